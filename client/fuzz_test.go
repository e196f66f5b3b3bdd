package client

import (
	"strings"
	"testing"
)

// What any server answers is a refusal with a name, or none; never a panic.
func FuzzReadProblem(f *testing.F) {
	f.Add("application/problem+json", `{"type":"/problems/not-found","title":"Not found","status":404,"detail":"x","more":[1]}`)
	f.Add("application/problem+json; charset=utf-8", `{"type":"https://h/problems/x","members":null}`)
	f.Add("text/html", `<html>`)
	f.Add("application/problem+json", `{"type":7}`)
	f.Add("application/problem+json", `null`)
	f.Fuzz(func(t *testing.T, media, text string) {
		p := readProblem(media, []byte(text))
		if p == nil {
			return
		}
		if p.Name == "" || !strings.Contains(strings.ToLower(media), "problem+json") || p.Members["detail"] != nil {
			t.Fatalf("%q, %q: %+v", media, text, p)
		}
		_, _ = p.Error(), p.Name.Status()
	})
}
