package web

import (
	"maps"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// home is the page where the dependency service is elsewhere.
func (s *Site) home() view { return view{name: "home", title: "Tombstone"} }

// docs describes the calls of the API.
func (s *Site) docs() view {
	return view{name: "docs", title: s.cfg.API.Info.Title + ": calls", data: describeCalls(s.cfg.API)}
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
