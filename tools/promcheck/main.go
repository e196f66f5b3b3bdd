// Promcheck answers, by Prometheus' own code, what alert rules do with metrics as they were scraped. It reads one question as
// JSON from standard input and writes one answer to standard output; test/alerts asks.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
)

// question is what to look at.
type question struct {
	Rules       string     `json:"rules"`       // the text of a rules file
	Expressions []string   `json:"expressions"` // further ones, whose metrics are asked for
	Scenarios   []scenario `json:"scenarios"`
}

// scenario is a system that was as in Before for hours, and then as in After.
type scenario struct {
	Name   string `json:"name"`
	Before string `json:"before"` // what /metrics told
	After  string `json:"after"`
	// Stuck: nothing moves any more, so that every age (a gauge that ends in _seconds) which is not 0 grows.
	Stuck bool `json:"stuck"`
}

// answer is what was found.
type answer struct {
	Alerts      map[string][]string `json:"alerts"`      // alert → metrics that its expression names
	Expressions [][]string          `json:"expressions"` // metrics of each
	Fired       map[string][]string `json:"fired"`       // scenario → alerts
}

func main() {
	var q question
	err := json.NewDecoder(os.Stdin).Decode(&q)
	if err == nil {
		var a answer
		if a, err = look(q); err == nil {
			err = json.NewEncoder(os.Stdout).Encode(a)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func look(q question) (answer, error) {
	a := answer{Alerts: map[string][]string{}, Expressions: [][]string{}, Fired: map[string][]string{}}
	p := parser.NewParser(parser.Options{})
	groups, errs := rulefmt.Parse([]byte(q.Rules), false, model.UTF8Validation, p, slog.New(slog.DiscardHandler))
	if len(errs) > 0 {
		return a, errors.Join(errs...)
	}
	var rules []rulefmt.Rule
	for _, g := range groups.Groups {
		rules = append(rules, g.Rules...)
	}
	for _, r := range rules {
		metrics, err := metricsOf(p, r.Expr)
		if err != nil {
			return a, err
		}
		a.Alerts[r.Alert] = metrics
	}
	for _, e := range q.Expressions {
		metrics, err := metricsOf(p, e)
		if err != nil {
			return a, fmt.Errorf("%s: %w", e, err)
		}
		a.Expressions = append(a.Expressions, metrics)
	}
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1e7, Timeout: time.Minute, Parser: p, EnableAtModifier: true})
	for _, s := range q.Scenarios {
		h, err := play(s)
		if err != nil {
			return a, fmt.Errorf("%s: %w", s.Name, err)
		}
		a.Fired[s.Name] = []string{}
		for _, r := range rules {
			fires, err := h.fires(engine, r)
			if err != nil {
				return a, fmt.Errorf("%s: %s: %w", s.Name, r.Alert, err)
			}
			if fires {
				a.Fired[s.Name] = append(a.Fired[s.Name], r.Alert)
			}
		}
	}
	return a, nil
}

// metricsOf lists the metrics that an expression names.
func metricsOf(p parser.Parser, expression string) (names []string, err error) {
	tree, err := p.ParseExpr(expression)
	if err != nil {
		return nil, err
	}
	parser.Inspect(tree, func(n parser.Node, _ []parser.Node) error {
		if v, ok := n.(*parser.VectorSelector); ok {
			for _, m := range v.LabelMatchers {
				if m.Name == labels.MetricName {
					names = append(names, m.Value)
				}
			}
		}
		return nil
	})
	slices.Sort(names)
	return slices.Compact(names), nil
}

// fires tells whether an alert fires at some time after the break: its expression has given something for as long as `for` says.
func (h *history) fires(engine *promql.Engine, r rulefmt.Rule) (bool, error) {
	var since time.Time
	for after, next := time.Duration(0), step; after <= storm; after += next {
		if after >= calm {
			next = 15 * step // what has not changed by then changes slowly
		}
		at := begin.Add(calm + after)
		query, err := engine.NewInstantQuery(context.Background(), h, nil, r.Expr, at)
		if err != nil {
			return false, err
		}
		result := query.Exec(context.Background())
		vector, err := result.Vector()
		pending := len(vector) > 0
		query.Close()
		switch {
		case err != nil:
			return false, err
		case !pending:
			since = time.Time{}
		case since.IsZero():
			since = at
		}
		if pending && at.Sub(since) >= time.Duration(r.For) {
			return true, nil
		}
	}
	return false, nil
}
