package httpapi

import (
	"encoding/json"
	"net/http"
)

// openAPIRoute serves the OpenAPI document, as it is when every call is registered.
func (s *server) openAPIRoute() error {
	document, err := json.MarshalIndent(s.api.OpenAPI(), "", "  ")
	if err != nil {
		return err
	}
	s.mux.Get("/openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(document)
	})
	return nil
}
