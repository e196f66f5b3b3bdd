package main

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/util/annotations"
)

// The times of a scenario: when it begins, how long nothing happens, for how long then, and how often it is scraped and looked at.
const (
	calm  = 2 * time.Hour
	storm = 8 * 24 * time.Hour
	step  = 2 * time.Minute
)

var begin = time.Unix(1_800_000_000, 0).UTC()

// history is the series of a scenario. It implements storage.Queryable.
type history struct{ series []*storage.SeriesEntry }

type scraped struct {
	labels labels.Labels
	value  float64
	gauge  bool
}

// play makes the series of a scenario.
func play(s scenario) (*history, error) {
	before, err := scrape(s.Before)
	if err != nil {
		return nil, err
	}
	after, err := scrape(s.After)
	if err != nil {
		return nil, err
	}
	samples, order := map[string][]chunks.Sample{}, []scraped{}
	add := func(list map[string]scraped, at time.Duration, stuckFor time.Duration) {
		for name, x := range list {
			if _, ok := samples[name]; !ok {
				order = append(order, x)
			}
			if x.gauge && x.value > 0 && strings.HasSuffix(x.labels.Get(labels.MetricName), "_seconds") && !strings.HasSuffix(x.labels.Get(labels.MetricName), "_interval_seconds") {
				x.value += stuckFor.Seconds()
			}
			samples[name] = append(samples[name], sample{begin.Add(at).UnixMilli(), x.value})
		}
	}
	for at := time.Duration(0); at < calm; at += step {
		add(before, at, 0)
	}
	for at := time.Duration(0); at <= storm; at += step {
		stuck := time.Duration(0)
		if s.Stuck {
			stuck = at
		}
		add(after, calm+at, stuck)
	}
	h := &history{}
	for _, x := range order {
		h.series = append(h.series, storage.NewListSeries(x.labels, samples[x.labels.String()]))
	}
	return h, nil
}

// scrape reads the text of /metrics, those of our own metrics, by their labels.
func scrape(text string) (map[string]scraped, error) {
	list := map[string]scraped{}
	if text == "" {
		return list, nil
	}
	p, err := textparse.New([]byte(text), "text/plain; version=0.0.4", labels.NewSymbolTable(), textparse.ParserOptions{})
	if err != nil {
		return nil, err
	}
	types := map[string]model.MetricType{}
	for {
		entry, err := p.Next()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return nil, err
		}
		switch entry {
		case textparse.EntryType:
			name, kind := p.Type()
			types[string(name)] = kind
		case textparse.EntrySeries:
			_, _, value := p.Series()
			var l labels.Labels
			p.Labels(&l)
			if name := l.Get(labels.MetricName); strings.HasPrefix(name, "tombstone_") && !strings.HasPrefix(name, "tombstone_http_") {
				list[l.String()] = scraped{l, value, types[name] == model.MetricTypeGauge}
			}
		}
	}
}

// sample is one value at a time in milliseconds.
type sample struct {
	t int64
	f float64
}

func (s sample) T() int64                                      { return s.t }
func (sample) ST() int64                                       { return 0 }
func (s sample) F() float64                                    { return s.f }
func (sample) H() *histogram.Histogram                         { return nil }
func (sample) FH() *histogram.FloatHistogram                   { return nil }
func (sample) Type() chunkenc.ValueType                        { return chunkenc.ValFloat }
func (s sample) Copy() chunks.Sample                           { return s }
func (h *history) Querier(_, _ int64) (storage.Querier, error) { return querier{h}, nil }

type querier struct{ h *history }

// Select gives the series that all matchers match.
func (q querier) Select(_ context.Context, _ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
	set := &found{at: -1}
	for _, s := range q.h.series {
		fits := true
		for _, m := range matchers {
			fits = fits && m.Matches(s.Labels().Get(m.Name))
		}
		if fits {
			set.series = append(set.series, s)
		}
	}
	return set
}

func (querier) LabelValues(context.Context, string, *storage.LabelHints, ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	return nil, nil, errors.New("not asked here")
}

func (querier) LabelNames(context.Context, *storage.LabelHints, ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	return nil, nil, errors.New("not asked here")
}

func (querier) Close() error { return nil }

// found is a set of series.
type found struct {
	series []storage.Series
	at     int
}

func (f *found) Next() bool                        { f.at++; return f.at < len(f.series) }
func (f *found) At() storage.Series                { return f.series[f.at] }
func (f *found) Err() error                        { return nil }
func (f *found) Warnings() annotations.Annotations { return nil }
