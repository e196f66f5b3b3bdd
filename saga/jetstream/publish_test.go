package jetstream_test

import (
	"bytes"
	"strings"
	"testing"

	driver "github.com/nats-io/nats.go/jetstream"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/saga"
	"github.com/tombstone-project/tombstone/saga/jetstream"
)

// H-02.
func TestNoMessageHasAnIDForTheBroker(t *testing.T) {
	b := startBroker(t)
	bus := ready(t, b, jetstream.Options{})
	m := command("a")
	m.Header = map[string]string{"Nats-Msg-Id": "one", "Nats-Rollup": "all", "Other": "stays"}
	if err := published(t.Context(), bus, m); err != nil {
		t.Fatal(err)
	}
	stream, err := b.admin().Stream(t.Context(), "TOMBSTONE_COMMANDS")
	if err != nil {
		t.Fatal(err)
	}
	raw, err := stream.GetMsg(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if raw.Header.Get("Nats-Msg-Id") != "" || raw.Header.Get("Nats-Rollup") != "" || raw.Header.Get("Other") != "stays" {
		t.Errorf("headers: %v", raw.Header)
	}
	// So a replay after a purge is kept, and not answered as a duplicate.
	if err := bus.Purge(t.Context(), []string{m.Subject}); err != nil {
		t.Fatal(err)
	}
	if err := published(t.Context(), bus, m); err != nil {
		t.Fatal(err)
	}
	fetchOne(t, bus, "a")
}

func TestOnlyACopyThatWaitsCountsAsSentNotAFullStream(t *testing.T) {
	b := startBroker(t)
	bus := ready(t, b, jetstream.Options{})
	admin := b.admin()
	limit := func(name string, change func(*driver.StreamConfig)) {
		stream, err := admin.Stream(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		c := stream.CachedInfo().Config
		change(&c)
		if _, err := admin.UpdateStream(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	limit("TOMBSTONE_COMMANDS", func(c *driver.StreamConfig) { c.MaxMsgs = 1 })
	limit("TOMBSTONE_REPORTS", func(c *driver.StreamConfig) {
		c.MaxMsgsPerSubject, c.Discard, c.DiscardNewPerSubject = 1, driver.DiscardNew, true
	})
	if err := published(t.Context(), bus, command("a"), command("a")); err != nil {
		t.Errorf("a copy that waits: %v", err)
	}
	if err := published(t.Context(), bus, command("b")); err == nil || !strings.Contains(err.Error(), "10077") && !strings.Contains(err.Error(), "maximum messages") {
		t.Errorf("a full stream: want the broker's refusal, got %v", err)
	}
	report := saga.Message{Subject: names.Report(events.TypeAssetErased, "a")}
	if errs := bus.Publish(t.Context(), []saga.Message{report, report}); errs[0] != nil || errs[1] == nil {
		t.Errorf("two reports on a stream that keeps one: want the second to fail, got %v", errs)
	}
}

func TestTheFeedCannotBePurgedNorAnythingByAWildcard(t *testing.T) {
	b := startBroker(t)
	bus := ready(t, b, jetstream.Options{})
	event := saga.Message{Subject: names.Event(events.TypeDeletionRequested, "a"), Data: []byte("x")}
	if err := published(t.Context(), bus, event, command("a")); err != nil {
		t.Fatal(err)
	}
	for _, subject := range []string{event.Subject, "tombstone.command.erase.*.*", "tombstone.command.>", "elsewhere", ""} {
		if err := bus.Purge(t.Context(), []string{subject}); err == nil {
			t.Errorf("Purge of %q: want a refusal", subject)
		}
	}
	for _, stream := range []string{"TOMBSTONE_EVENTS", "TOMBSTONE_COMMANDS"} {
		if got, err := held(t.Context(), b.admin(), stream); err != nil || len(got) != 1 {
			t.Errorf("%s: want its one message, got %d, %v", stream, len(got), err)
		}
	}
}

// H-13.
func TestADeadLetterThatWouldBeTooBigIsCutAndSaysSo(t *testing.T) {
	b := startBroker(t)
	bus := ready(t, b, jetstream.Options{})
	big := command("a")
	big.Data = bytes.Repeat([]byte("x"), 1<<20-100)
	if err := published(t.Context(), bus, big); err != nil {
		t.Fatal(err)
	}
	got, err := bus.Commands().Fetch(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := got[0].Bury(t.Context(), strings.Repeat("why ", 10_000)); err != nil {
		t.Fatal(err)
	}
	letters, err := held(t.Context(), b.admin(), "TOMBSTONE_DEAD")
	if err != nil || len(letters) != 1 {
		t.Fatalf("dead letters: %d, %v", len(letters), err)
	}
	letter := letters[0]
	if letter.Header["Tombstone-Cut"] != "8092" || len(letter.Data) != 1<<20-8192 || letter.Header["Tombstone-Subject"] != big.Subject ||
		!strings.HasPrefix(letter.Header["Tombstone-Reason"], "why why") || len(letter.Header["Tombstone-Reason"]) > 1024 {
		t.Errorf("letter: %d bytes, headers %v", len(letter.Data), letter.Header)
	}
}
