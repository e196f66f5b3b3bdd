package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/go-jose/go-jose/v4"

	"github.com/tombstone-project/tombstone/receipt"
)

// receiptCmd gets or verifies the signed statement of what a deletion erased.
type receiptCmd struct {
	remote
	Deletion string `arg:"" optional:"" complete:"deleted" help:"Id of the deletion; not with --file."`
	Verify   bool   `help:"Verify it, and print what it says. The exit code is 1 when it does not verify."`
	File     string `placeholder:"FILE" help:"Verify this receipt instead of asking for one; - is standard input."`
	Keys     string `placeholder:"FILE" help:"Verify with these keys, kept from /.well-known/jwks.json, instead of asking for them."`
}

// Help has examples.
func (*receiptCmd) Help() string {
	return examples("tombstone receipt 0198c0de-7f00-7000-8000-000000000001 > receipt.jws",
		"tombstone receipt 0198c0de-7f00-7000-8000-000000000001 --verify",
		"tombstone receipt --verify --file receipt.jws --keys jwks.json   # asks no service")
}

// Run prints the receipt as it came, or what it says once it verified.
func (c *receiptCmd) Run(p *program) error {
	switch {
	case (c.Deletion == "") == (c.File == ""):
		return usageError("name either a deletion or a --file")
	case !c.Verify && (c.File != "" || c.Keys != ""):
		return usageError("--file and --keys go with --verify")
	}
	text, err := c.text(p)
	if err != nil || !c.Verify {
		return c.finish(p, err, func() { _, _ = fmt.Fprintln(p.out, safe(strings.TrimSpace(text))) })
	}
	keys, err := c.keys(p)
	if err != nil {
		return err
	}
	r, err := receipt.Verify(text, keys)
	if err == nil && c.Deletion != "" && r.Deletion != c.Deletion {
		err = fmt.Errorf("%w: it is of deletion %s", receipt.ErrNotVerified, r.Deletion)
	}
	if err != nil {
		return err
	}
	if c.JSON {
		_, _ = fmt.Fprintln(p.out, text)
		return nil
	}
	printReceipt(p, r)
	return nil
}

// text is the receipt, from the file or the service.
func (c *receiptCmd) text(p *program) (string, error) {
	switch c.File {
	case "":
		api, err := c.dial()
		if err != nil {
			return "", err
		}
		return api.Receipt(p.ctx, c.Deletion)
	case "-":
		text, err := io.ReadAll(p.in)
		return string(text), err
	}
	text, err := os.ReadFile(c.File)
	return string(text), err
}

// keys are those of the file, or of the service.
func (c *receiptCmd) keys(p *program) (jose.JSONWebKeySet, error) {
	if c.Keys == "" {
		api, err := c.dial()
		if err != nil {
			return jose.JSONWebKeySet{}, err
		}
		return api.ReceiptKeys(p.ctx)
	}
	text, err := os.ReadFile(c.Keys)
	if err != nil {
		return jose.JSONWebKeySet{}, err
	}
	return receipt.ParseKeys(text)
}

func printReceipt(p *program, r receipt.Receipt) {
	table(p.out, []string{"signature", "verifies"}, []string{"result", r.Result}, []string{"deletion", r.Deletion}, []string{"asset", r.Root},
		[]string{"requested by", r.RequestedBy}, []string{"reason", r.Reason}, []string{"requested", moment(r.RequestedAt)},
		[]string{"completed", moment(r.CompletedAt)}, []string{"policy", r.Policy})
	_, _ = fmt.Fprintln(p.out)
	rows := [][]string{{"ASSET", "GENERATION", "PART", "RESULT", "DOCUMENTS", "OBJECTS", "BYTES", "ABSENT AT"}}
	for _, a := range r.Assets {
		for _, part := range a.Parts {
			absent := "given up: " + part.GivenUp
			if part.AbsentAt != nil {
				absent = moment(*part.AbsentAt)
			}
			rows = append(rows, []string{a.ID, part.Generation, part.Part, part.Result, strconv.FormatInt(part.Documents, 10),
				strconv.FormatInt(part.Objects, 10), strconv.FormatInt(part.Bytes, 10), absent})
		}
		if len(a.Parts) == 0 {
			rows = append(rows, []string{a.ID, a.Generation})
		}
	}
	table(p.out, rows...)
}
