package httpapi

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/tombstone-project/tombstone/receipt"
)

const keysPath = "/.well-known/jwks.json"

// signedOut is a body of another media type than the usual one.
type signedOut struct {
	ContentType string `header:"Content-Type"`
	Body        []byte
}

// receiptRoutes are the proof of what was erased. Keys are for everybody: they verify, and sign nothing.
func (s *server) receiptRoutes() {
	route(s, huma.Operation{
		OperationID: "get-receipt", Method: http.MethodGet, Path: "/v1/deletions/{did}/receipt", Tags: []string{"deletions"},
		Summary:     "Get the signed statement of what a deletion erased",
		Description: "A compact JWS (EdDSA) that says for each part what was there, and when it was seen to be absent. 409 not-deleted before the deletion is done.",
		Responses:   rawAnswer("The receipt", receipt.MediaType), Errors: append(readErrors(), http.StatusConflict),
	}, func(ctx context.Context, in *oneDeletionIn) (*signedOut, error) {
		text, err := s.cfg.Dependency.Receipt(ctx, string(in.Deletion))
		return &signedOut{receipt.MediaType, []byte(text)}, err
	})
	route(s, huma.Operation{
		OperationID: "get-receipt-keys", Method: http.MethodGet, Path: keysPath, Tags: []string{"deletions"},
		Summary:   "Get the public keys that receipts verify with",
		Responses: rawAnswer("A JWK Set", "application/json"), Errors: []int{http.StatusServiceUnavailable}, Security: []map[string][]string{{}},
	}, func(ctx context.Context, _ *struct{}) (*signedOut, error) {
		ctx, cancel := context.WithTimeout(ctx, s.cfg.RequestTimeout)
		defer cancel()
		keys, err := s.cfg.Dependency.ReceiptKeys(ctx)
		if err != nil {
			return nil, err
		}
		text, err := json.Marshal(keys)
		return &signedOut{"application/json", text}, err
	})
}

func rawAnswer(description, media string) map[string]*huma.Response {
	body := &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString}}
	return map[string]*huma.Response{"200": {Description: description, Content: map[string]*huma.MediaType{media: body}}}
}
