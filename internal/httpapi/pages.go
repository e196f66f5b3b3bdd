package httpapi

import "github.com/tombstone-project/tombstone/internal/web"

// pageRoutes are the page for people, and what belongs to it.
func (s *server) pageRoutes() error {
	cfg := web.Config{
		Auth: s.cfg.Auth, Live: s.streamChanges, API: s.api.OpenAPI(), RequestTimeout: s.cfg.RequestTimeout, Version: s.cfg.Version, Logger: s.log,
	}
	if s.cfg.Dependency != nil {
		cfg.Service = s.cfg.Dependency
	}
	site, err := web.New(cfg)
	if err != nil {
		return err
	}
	for _, r := range site.Routes() {
		s.mux.MethodFunc(r.Method, r.Path, r.Handle)
	}
	return nil
}
