package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/internal/httpapi"
	"github.com/tombstone-project/tombstone/internal/httpapi/apitest"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// result is what one command line left behind.
type result struct {
	t           *testing.T
	args        string
	code        int
	stdout, err string
}

// tombstone runs one command line.
func tombstone(t *testing.T, args ...string) result {
	t.Helper()
	return tombstoneWith(t, "", args...)
}

// tombstoneWith is tombstone with something on standard input.
func tombstoneWith(t *testing.T, stdin string, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out, complaints bytes.Buffer
	code := run(&program{ctx: ctx, in: strings.NewReader(stdin), out: &out, err: &complaints}, args)
	return result{t, strings.Join(args, " "), code, out.String(), complaints.String()}
}

// done fails the test unless the command succeeded without complaint.
func (r result) done() result {
	r.t.Helper()
	if r.code != exitDone || r.err != "" {
		r.t.Fatalf("tombstone %s: exit %d, stderr %q, stdout %q", r.args, r.code, r.err, r.stdout)
	}
	return r
}

// fails fails the test unless the command ended with this code and one line that holds all the texts.
func (r result) fails(code int, texts ...string) result {
	r.t.Helper()
	if line, ok := strings.CutSuffix(r.err, "\n"); r.code != code || !ok || line == "" || strings.Contains(line, "\n") {
		r.t.Fatalf("tombstone %s: expected exit %d and one line, got %d and %q, stdout %q", r.args, code, r.code, r.err, r.stdout)
	}
	for _, text := range texts {
		if !strings.Contains(r.err, text) {
			r.t.Fatalf("tombstone %s: expected %q in %q", r.args, text, r.err)
		}
	}
	return r
}

// values are the JSON values on standard output.
func (r result) values() (list []map[string]any) {
	r.t.Helper()
	decoder := json.NewDecoder(strings.NewReader(r.stdout))
	for {
		var v map[string]any
		err := decoder.Decode(&v)
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			r.t.Fatalf("tombstone %s: %v in %q", r.args, err, r.stdout)
		}
		list = append(list, v)
	}
}

// serve starts an in-memory service that the commands of this test speak to.
func serve(t *testing.T, change ...func(*httpapi.Config)) *apitest.Service {
	t.Helper()
	s := apitest.New()
	t.Setenv("TOMBSTONE_URL", apitest.Serve(t, s, change...))
	return s
}

// create puts assets without links.
func create(t *testing.T, s *apitest.Service, ids ...string) {
	t.Helper()
	for _, id := range ids {
		put(t, s, id, dependency.Put{Kind: apitest.Kind})
	}
}

func put(t *testing.T, s *apitest.Service, id string, body dependency.Put) {
	t.Helper()
	ctx := dependency.WithCaller(t.Context(), dependency.Caller{Subject: "test", Owner: "default", Operator: true})
	if _, _, err := s.PutAsset(ctx, id, body); err != nil {
		t.Fatal(err)
	}
}
