// Package web is the page: what the dependency service shows to people, made from the same calls that the HTTP API serves.
//
// Pages are rendered on the server and readable without script. One script of our own follows the stream of changes,
// fetches the page anew, and puts what is new in place; the content security policy allows no other, and none inline.
// Whatever came from outside (ids, reasons, errors of stores) is shown as text, with control and reordering characters
// written out.
//
// A browser keeps its token in a cookie that no script can read and that is sent only by pages of this site (session.go).
// It counts for the paths of the page alone, never for the API.
package web

import (
	"embed"
	"errors"
	"html/template"
	"io/fs"
	"log/slog"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/tombstone-project/tombstone/internal/auth"
	"github.com/tombstone-project/tombstone/services/dependency"
)

//go:embed templates static
var files embed.FS

// Service is what the page shows and does.
type Service interface {
	dependency.AssetsAPI
	dependency.DeletionsAPI
	dependency.OperationsAPI
	dependency.DrivingAPI
	dependency.WatchingAPI
	dependency.ReversalAPI
	dependency.OwnersAPI
	dependency.ProofAPI
	dependency.PlanningAPI
	dependency.RetentionAPI
	dependency.SweepAPI
}

// Config of a Site. All but Service, Live and Logger are required.
type Config struct {
	// Service is the dependency service; nil where it is not served: then the page only says what there is.
	Service Service
	Auth    auth.Authenticator
	// Live streams the changes that the caller in a request's context may see.
	Live http.HandlerFunc
	// API is the description that /docs shows.
	API *huma.OpenAPI
	// RequestTimeout bounds each request but that of the stream.
	RequestTimeout time.Duration
	Version        string
	Logger         *slog.Logger // nil: nothing is logged
	Now            func() time.Time
}

// Site serves the page.
type Site struct {
	cfg   Config
	pages map[string]*template.Template
}

// New reads the templates.
func New(cfg Config) (*Site, error) {
	if cfg.Auth == nil || cfg.API == nil || cfg.RequestTimeout <= 0 {
		return nil, errors.New("web: Auth, API and RequestTimeout are required")
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	pages, err := parsePages(files)
	return &Site{cfg: cfg, pages: pages}, err
}

// parsePages gives each page the common layout.
func parsePages(from fs.FS) (map[string]*template.Template, error) {
	common, err := template.New("").Funcs(helpers()).ParseFS(from, "templates/layout.html", "templates/parts.html")
	if err != nil {
		return nil, err
	}
	names, err := fs.Glob(from, "templates/*.html")
	if err != nil {
		return nil, err
	}
	pages := map[string]*template.Template{}
	for _, name := range names {
		page, err := template.Must(common.Clone()).ParseFS(from, name)
		if err != nil {
			return nil, err
		}
		pages[name[len("templates/"):len(name)-len(".html")]] = page
	}
	return pages, nil
}

// Route is one path of the page. All are one segment, and links between them relative, so that the page may lie below a prefix.
type Route struct {
	Method, Path string
	Handle       http.HandlerFunc
}

// Routes are all paths. Who serves them refuses changes that pages of other origins send.
func (s *Site) Routes() []Route {
	routes := []Route{
		{http.MethodGet, "/style.css", s.file("static/style.css", "text/css; charset=utf-8")},
		{http.MethodGet, "/page.js", s.file("static/page.js", "text/javascript; charset=utf-8")},
		{http.MethodGet, "/icon.svg", s.file("static/icon.svg", "image/svg+xml")},
		{http.MethodGet, "/docs", s.open(s.docs)},
	}
	if s.cfg.Service == nil {
		return append(routes, Route{http.MethodGet, "/", s.open(s.home)})
	}
	return append(routes,
		Route{http.MethodGet, "/", s.page(s.overview)},
		Route{http.MethodGet, "/deletions", s.page(s.deletions)},
		Route{http.MethodGet, "/deletion", s.page(s.deletion)},
		Route{http.MethodGet, "/receipt", s.receipt},
		Route{http.MethodPost, "/cancel", s.action(s.cancel)},
		Route{http.MethodPost, "/retry", s.action(s.retry)},
		Route{http.MethodPost, "/force", s.action(s.force)},
		Route{http.MethodGet, "/assets", s.page(s.assets)},
		Route{http.MethodGet, "/asset", s.page(s.asset)},
		Route{http.MethodGet, "/delete", s.within(planPatience, s.shown(s.confirm))},
		Route{http.MethodPost, "/delete", s.action(s.delete)},
		Route{http.MethodGet, "/audit", s.page(s.audit)},
		Route{http.MethodGet, "/usage", s.page(s.usage)},
		Route{http.MethodGet, "/pending", s.page(s.pending)},
		Route{http.MethodPost, "/replay", s.action(s.replay)},
		Route{http.MethodPost, "/hold", s.action(s.hold)},
		Route{http.MethodPost, "/release", s.action(s.release)},
		Route{http.MethodGet, "/operations", s.page(forOperators(s.operations))},
		Route{http.MethodPost, "/pause", s.action(s.pause)},
		Route{http.MethodPost, "/resume", s.action(s.resume)},
		Route{http.MethodGet, "/retention", s.page(forOperators(searchPage("retention", "What has expired")))},
		Route{http.MethodPost, "/retention", s.search(s.retention)},
		Route{http.MethodGet, "/sweep", s.page(forOperators(searchPage("sweep", "Orphans")))},
		Route{http.MethodPost, "/sweep", s.search(s.sweep)},
		Route{http.MethodGet, "/live", s.live},
		Route{http.MethodPost, "/signin", s.fromOurForm(s.signIn)},
		Route{http.MethodPost, "/signout", s.fromOurForm(s.signOut)},
	)
}
