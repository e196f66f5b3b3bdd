package httpapi

import (
	"encoding/json"
	"net/http"

	"github.com/tombstone-project/tombstone/events"
)

// openAPIRoute serves the OpenAPI document, as it is when every call is registered, and the AsyncAPI document of the messages.
func (s *server) openAPIRoute() error {
	document, err := json.MarshalIndent(s.api.OpenAPI(), "", "  ")
	if err != nil {
		return err
	}
	s.mux.Get("/openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(document)
	})
	s.mux.Get("/asyncapi.yaml", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/yaml")
		_, _ = w.Write(events.AsyncAPI)
	})
	return nil
}
