package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/tombstone-project/tombstone/client"
	"github.com/tombstone-project/tombstone/internal/safetext"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// defaultURL is where a service listens unless it is told otherwise.
const defaultURL = "http://127.0.0.1:8080"

// remote are the flags of commands that speak to a service.
type remote struct {
	URL  string `env:"TOMBSTONE_URL" placeholder:"URL" help:"Address of the service, by default http://127.0.0.1:8080; a token comes from $$TOMBSTONE_TOKEN or the file $$TOMBSTONE_TOKEN_FILE."`
	JSON bool   `help:"Print the body of the HTTP answer."`

	answer client.Answer // the last one
}

// dial makes the client. It keeps the last answer as it came, for --json.
func (r *remote) dial() (*client.Client, error) {
	token, err := token()
	if err != nil {
		return nil, err
	}
	c, err := client.New(cmp.Or(r.URL, defaultURL), token, client.OnAnswer(func(a client.Answer) { r.answer = a }))
	if err != nil {
		return nil, fmt.Errorf("TOMBSTONE_URL: %w", err)
	}
	return c, nil
}

// token is the caller's token, or empty.
func token() (string, error) {
	value, file := os.Getenv("TOMBSTONE_TOKEN"), os.Getenv("TOMBSTONE_TOKEN_FILE")
	switch {
	case value != "" && file != "":
		return "", errors.New("TOMBSTONE_TOKEN and TOMBSTONE_TOKEN_FILE are both given: write one of them")
	case file == "":
		return value, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("TOMBSTONE_TOKEN_FILE: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}

// printBody prints the last answer, and {} for one without a body. What would act on a terminal is written as JSON's escapes.
func (r *remote) printBody(p *program) {
	body := strings.TrimSpace(string(r.answer.Body))
	if body == "" {
		body = "{}"
	}
	_, _ = fmt.Fprintln(p.out, safetext.EscapeJSON(body))
}

// finish ends a call: with --json its body is printed, refusals too; else text prints the result. The error stays as it is.
func (r *remote) finish(p *program, err error, text func()) error {
	switch {
	case r.JSON && (err == nil || problem.As(err) != nil):
		r.printBody(p)
	case err == nil:
		text()
	}
	return err
}

// pages reads a list to its end and prints page after page; text prints one for people.
func pages[T any](p *program, r *remote, read func(cursor string) (dependency.Page[T], error), text func(items []T, first bool)) error {
	for cursor, first := "", true; first || cursor != ""; first = false {
		page, err := read(cursor)
		if err = r.finish(p, err, func() { text(page.Items, first) }); err != nil {
			return err
		}
		if err := p.printed(); err != nil {
			return err
		}
		cursor = page.NextCursor
	}
	return nil
}

// refusal is the line of a refusal: its name and its sentence, and the dependants that it names.
func refusal(p *problem.Problem) string {
	line := p.Error()
	if asks, ok := strings.CutSuffix(line, dependency.AskWithDependants); ok && p.Name == problem.HasDependants {
		line = asks + "say --with-dependants"
	}
	if some, ok := p.Members["dependants"].([]any); ok {
		line += "; dependants: " + enumerate(some, p.Members["dependants_total"])
	}
	return line
}

// enumerate names the first of some ids, and how many there are when that is more.
func enumerate(ids []any, total any) string {
	const most = 10
	names := make([]string, 0, most)
	for _, id := range ids[:min(len(ids), most)] {
		names = append(names, fmt.Sprint(id))
	}
	text := strings.Join(names, ", ")
	if n, ok := total.(float64); ok && int(n) > len(names) {
		text += fmt.Sprintf(" and %d more", int(n)-len(names))
	}
	return text
}
