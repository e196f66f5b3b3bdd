package httpapi

import (
	"bytes"
	"embed"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

//go:embed pages
var pageFiles embed.FS

// pagePolicy allows our own style sheet and nothing else, so that no stored text can ever run.
const pagePolicy = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// pageRoutes are the pages for people. They are made once: nothing in them changes while the process runs.
func (s *server) pageRoutes() error {
	templates, err := template.ParseFS(pageFiles, "pages/*.html")
	if err != nil {
		return err
	}
	for path, page := range map[string]struct {
		name string
		data any
	}{
		"/":     {"home.html", s.cfg.Version},
		"/docs": {"docs.html", describeCalls(s.api.OpenAPI())},
	} {
		var text bytes.Buffer
		if err := templates.ExecuteTemplate(&text, page.name, page.data); err != nil {
			return err
		}
		s.mux.Get(path, static("text/html; charset=utf-8", text.Bytes()))
	}
	style, err := pageFiles.ReadFile("pages/style.css")
	if err != nil {
		return err
	}
	s.mux.Get("/style.css", static("text/css; charset=utf-8", style))
	return nil
}

// static answers with the same bytes every time.
func static(media string, text []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", media)
		w.Header().Set("Content-Security-Policy", pagePolicy)
		w.Header().Set("Referrer-Policy", "no-referrer")
		_, _ = w.Write(text)
	}
}

// callsPage is what the page of calls shows.
type callsPage struct {
	Title, Description, Version string
	Groups                      []callGroup
}

// callGroup are the calls with one tag.
type callGroup struct {
	Name  string
	Calls []callView
}

// callView is one call.
type callView struct {
	Method, Path, Summary, Description string
	Parameters                         []*huma.Param
	Body                               string // media type and schema
	Answers                            string // status codes
}

// describeCalls reads the calls out of the OpenAPI document, by tag, path and method.
func describeCalls(api *huma.OpenAPI) callsPage {
	page := callsPage{Title: api.Info.Title, Description: api.Info.Description, Version: api.Info.Version}
	groups := map[string][]callView{}
	for _, path := range slices.Sorted(maps.Keys(api.Paths)) {
		item := api.Paths[path]
		for _, op := range []*huma.Operation{item.Get, item.Put, item.Post, item.Delete} {
			if op != nil {
				groups[op.Tags[0]] = append(groups[op.Tags[0]], viewCall(op))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		page.Groups = append(page.Groups, callGroup{name, groups[name]})
	}
	return page
}

func viewCall(op *huma.Operation) callView {
	v := callView{Method: op.Method, Path: op.Path, Summary: op.Summary, Description: op.Description, Parameters: op.Parameters}
	if op.RequestBody != nil {
		for media, content := range op.RequestBody.Content {
			v.Body = media
			if content.Schema != nil && content.Schema.Ref != "" {
				v.Body += ", " + content.Schema.Ref[strings.LastIndex(content.Schema.Ref, "/")+1:]
			}
		}
	}
	v.Answers = strings.Join(slices.Sorted(maps.Keys(op.Responses)), ", ")
	return v
}
