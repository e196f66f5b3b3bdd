package web

import (
	"fmt"
	"strings"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// chart is a picture of one series over the minutes of the last hour, in units of its view box.
type chart struct {
	Title, Class, Unit    string
	Width, Height, Bottom int
	Bars                  []bar
	Top                   string // the greatest value
	From, To              string
	Summary               string // the same in words
}

// bar is one minute.
type bar struct {
	X, Y, Width, Height float64
	Label               string
}

const (
	chartWidth  = 360
	chartHeight = 96
	chartBottom = 80 // of the bars; the times are below
)

// charts are those of the overview.
func charts(minutes []dependency.Minute) []chart {
	return []chart{
		newChart("Accepted", "requested", "deletions a minute", minutes, func(m dependency.Minute) (float64, bool) { return float64(m.Requested), true }),
		newChart("Completed", "completed", "deletions a minute", minutes, func(m dependency.Minute) (float64, bool) { return float64(m.Completed), true }),
		newChart("Oldest pending", "pending", "seconds", minutes, func(m dependency.Minute) (float64, bool) {
			if m.OldestPending == nil {
				return 0, false
			}
			return *m.OldestPending, true
		}),
	}
}

func newChart(title, class, unit string, minutes []dependency.Minute, value func(dependency.Minute) (float64, bool)) chart {
	c := chart{Title: title, Class: class, Unit: unit, Width: chartWidth, Height: chartHeight, Bottom: chartBottom}
	top, sum := 0.0, 0.0
	for _, m := range minutes {
		v, _ := value(m)
		top, sum = max(top, v), sum+v
	}
	step := float64(chartWidth) / float64(len(minutes))
	for i, m := range minutes {
		v, known := value(m)
		if !known || v == 0 {
			continue
		}
		height := max(1, v/top*(chartBottom-12))
		c.Bars = append(c.Bars, bar{X: float64(i) * step, Y: chartBottom - height, Width: step * .8, Height: height,
			Label: fmt.Sprintf("%s UTC: %s", m.At.UTC().Format("15:04"), decimal(v))})
	}
	c.Top = decimal(top)
	c.From, c.To = minutes[0].At.UTC().Format("15:04"), minutes[len(minutes)-1].At.UTC().Format("15:04")
	c.Summary = fmt.Sprintf("%s from %s to %s UTC: %s %s at most", title, c.From, c.To, c.Top, unit)
	if class != "pending" {
		c.Summary += fmt.Sprintf(", %s in all", decimal(sum))
	}
	return c
}

// decimal writes a value with at most one digit after the point.
func decimal(v float64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0") }
