package dependency_test

import (
	"crypto/ed25519"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/receipt"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// receipt gives what the receipt of a deletion says, once it verified with the published keys.
func (b *bench) receipt(deletion string) receipt.Receipt {
	b.t.Helper()
	text, err := b.Receipt(b.ctx, deletion)
	if err != nil {
		b.t.Fatal(err)
	}
	keys, err := b.ReceiptKeys(b.ctx)
	if err != nil {
		b.t.Fatal(err)
	}
	r, err := receipt.Verify(text, keys)
	if err != nil {
		b.t.Fatal(err)
	}
	if again, err := b.Receipt(b.ctx, deletion); err != nil || again != text {
		b.t.Errorf("the receipt read again: %v, the same: %t", err, again == text)
	}
	return r
}

func TestTheReceiptSaysWhatWasErased(t *testing.T) {
	b := newBench(t)
	whole := b.create("item", "whole")
	part := b.create("bare", "part", dependency.LinkTo{Type: "PART_OF", To: "whole"})
	d := b.del("whole")
	if _, err := b.Receipt(b.ctx, d.ID); !errors.Is(err, problem.NotDeleted) {
		t.Errorf("a receipt before the end: %v", err)
	}
	b.erased(d, "part", part.Generation)
	b.erased(d, "whole", whole.Generation)
	at := b.now()
	entry := func(name string) receipt.Part {
		return receipt.Part{Part: name, Generation: whole.Generation, Result: receipt.Verified, Documents: 1, Objects: 2, Bytes: 10, AbsentAt: &at}
	}
	want := receipt.Receipt{Deletion: d.ID, Root: "whole", Result: receipt.Verified, Policy: parse(t, policyText).Hash, RequestedBy: "olga", Reason: "test",
		RequestedAt: at, DueAt: at, CompletedAt: at, Assets: []receipt.Asset{
			{ID: "whole", Kind: "item", Owner: "acme", Generation: whole.Generation, Why: "requested", Parts: []receipt.Part{entry("note"), entry("payload")}},
			{ID: "part", Kind: "bare", Owner: "acme", Generation: part.Generation, Why: "PART_OF whole", Parts: []receipt.Part{}},
		}}
	if diff := cmp.Diff(want, b.receipt(d.ID)); diff != "" {
		t.Error(diff)
	}
	if _, err := b.Receipt(b.as("other"), d.ID); !errors.Is(err, problem.NotFound) {
		t.Errorf("a receipt for another owner: %v", err)
	}
}

func TestTheReceiptOfAForcedPartIsUnverified(t *testing.T) {
	b := newBench(t)
	a := b.create("item", "a")
	d := b.del("a")
	if _, err := b.Force(b.ctx, d.ID, dependency.Force{Part: "payload", Reason: "the bucket burnt"}); err != nil {
		t.Fatal(err)
	}
	b.erased(d, "a", a.Generation)
	r := b.receipt(d.ID)
	parts := r.Assets[0].Parts
	if r.Result != receipt.Unverified || parts[0].Result != receipt.Verified || parts[1].Result != receipt.Unverified ||
		parts[1].AbsentAt != nil || parts[1].GivenUp != "the bucket burnt" {
		t.Errorf("receipt: %+v", r)
	}
}

func TestReceiptsOfReplacedKeysStillVerify(t *testing.T) {
	b := newBench(t)
	a := b.create("bare", "a")
	d := b.del("a")
	b.erased(d, "a", a.Generation)
	old, err := b.Receipt(b.ctx, d.ID)
	if err != nil {
		t.Fatal(err)
	}
	started := func(key ed25519.PrivateKey) *dependency.Service {
		s, err := dependency.New(dependency.Config{Graph: b.graph, Policy: parse(t, policyText), ReceiptKey: key})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	restarted := started(nil)
	if again, err := restarted.Receipt(b.ctx, d.ID); err != nil || again != old {
		t.Errorf("after a restart the kept key signs otherwise: %v", err)
	}
	replaced := started(ed25519.NewKeyFromSeed([]byte(strings.Repeat("x", ed25519.SeedSize))))
	fresh, err := replaced.Receipt(b.ctx, d.ID)
	if err != nil || fresh == old {
		t.Fatalf("the configured key does not sign: %v", err)
	}
	keys, err := replaced.ReceiptKeys(b.ctx)
	if err != nil || len(keys.Keys) != 2 {
		t.Fatalf("%d keys, %v", len(keys.Keys), err)
	}
	for _, text := range []string{old, fresh} {
		if _, err := receipt.Verify(text, keys); err != nil {
			t.Error(err)
		}
	}
	if slices.ContainsFunc(keys.Keys, func(k jose.JSONWebKey) bool { return !k.IsPublic() }) {
		t.Error("a private key is published")
	}
}
