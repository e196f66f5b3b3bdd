package jetstream_test

import (
	"strings"
	"testing"

	"github.com/tombstone-project/tombstone/saga/jetstream"
)

func TestABusThatFollowsMakesNothingAndWaits(t *testing.T) {
	b := startBroker(t)
	follower := b.bus(names, jetstream.Options{Follow: true})
	if created, err := follower.Ensure(t.Context()); err == nil || len(created) > 0 || !strings.Contains(err.Error(), "the dependency service makes the streams") {
		t.Errorf("without streams: made %v, %v", created, err)
	}
	if _, err := b.admin().Stream(t.Context(), "TOMBSTONE_COMMANDS"); err == nil {
		t.Error("it has made a stream")
	}
	leader := ready(t, b, jetstream.Options{})
	if _, err := follower.Ensure(t.Context()); err != nil {
		t.Errorf("with streams: %v", err)
	}
	if err := published(t.Context(), leader, command("a")); err != nil {
		t.Fatal(err)
	}
	got, err := follower.Commands().Fetch(t.Context(), 1)
	if err != nil || len(got) != 1 {
		t.Errorf("%d messages, %v", len(got), err)
	}
}
