package fault

import (
	"context"

	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/services/asset"
)

// Documents wraps asset.Documents. Ping and Expires pass through.
type Documents struct {
	asset.Documents
	process *Process
}

// NewDocuments makes the document store as the process sees it.
func NewDocuments(p *Process, inner asset.Documents) *Documents { return &Documents{inner, p} }

func documentsCall(method string, refs ...asset.DocumentRef) Call {
	c := Call{Port: "documents", Method: method, Items: len(refs)}
	if len(refs) > 0 {
		c.About = refs[0].Collection + " " + refs[0].Key
	}
	return c
}

// Delete wraps the deleting.
func (d *Documents) Delete(ctx context.Context, refs []asset.DocumentRef) []error {
	return d.process.each(ctx, documentsCall("Delete", refs...), func(ctx context.Context, items int) []error {
		return d.Documents.Delete(ctx, refs[:items])
	})
}

// Exists wraps the looking.
func (d *Documents) Exists(ctx context.Context, refs []asset.DocumentRef) ([]bool, []error) {
	exists := make([]bool, len(refs))
	errs := d.process.each(ctx, documentsCall("Exists", refs...), func(ctx context.Context, items int) []error {
		seen, errs := d.Documents.Exists(ctx, refs[:items])
		copy(exists, seen)
		return errs
	})
	return exists, errs
}

// OtherType wraps the looking for ids of another type.
func (d *Documents) OtherType(ctx context.Context, ref asset.DocumentRef) (other policy.IDType, err error) {
	err = d.process.do(ctx, documentsCall("OtherType", ref), func(ctx context.Context, _ int) (err error) {
		other, err = d.Documents.OtherType(ctx, ref)
		return err
	})
	if err != nil {
		return "", err
	}
	return other, nil
}

// Put wraps the writing.
func (d *Documents) Put(ctx context.Context, ref asset.DocumentRef, body map[string]any) error {
	return d.process.do(ctx, documentsCall("Put", ref), func(ctx context.Context, _ int) error { return d.Documents.Put(ctx, ref, body) })
}

// Get wraps the reading.
func (d *Documents) Get(ctx context.Context, ref asset.DocumentRef) (body map[string]any, err error) {
	err = d.process.do(ctx, documentsCall("Get", ref), func(ctx context.Context, _ int) (err error) {
		body, err = d.Documents.Get(ctx, ref)
		return err
	})
	if err != nil {
		return nil, err
	}
	return body, nil
}

// Page wraps the listing.
func (d *Documents) Page(ctx context.Context, shelf asset.DocumentShelf, mark string, limit int) (kept []asset.KeptDocument, next string, err error) {
	call := Call{Port: "documents", Method: "Page", Items: 1, About: shelf.Collection}
	err = d.process.do(ctx, call, func(ctx context.Context, _ int) (err error) {
		kept, next, err = d.Documents.Page(ctx, shelf, mark, limit)
		return err
	})
	if err != nil {
		return nil, "", err
	}
	return kept, next, nil
}
