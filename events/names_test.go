package events_test

import (
	"strings"
	"testing"

	"github.com/tombstone-project/tombstone/events"
)

func TestNamesOfTheDefaultAndOfAnotherNamespace(t *testing.T) {
	// printf a-1 | sha256sum
	const hash = "2f8fe63a6224321de5d0a24cf30067d3"
	first, second := events.Names{}, events.Names{Namespace: "second-2"}
	for _, c := range []struct{ got, want string }{
		{first.Command("d-1", "a-1"), "tombstone.command.erase.d-1." + events.AssetHash("a-1")},
		{first.Report(events.TypeAssetErased, "a-1"), "tombstone.report.asset.erased." + events.AssetHash("a-1")},
		{first.Event(events.TypeDeletionRequested, "a-1"), "tombstone.event.deletion.requested." + events.AssetHash("a-1")},
		{first.DeadLetter(first.Command("d-1", "a-1")), "tombstone.dead.command.erase.d-1." + events.AssetHash("a-1")},
		{first.RPC("gate.current"), "tombstone.rpc.gate.current"},
		{first.Service("gate"), "tombstone-gate"},
		{first.EraseConsumer(), "tombstone-erase"},
		{first.ReportConsumer(), "tombstone-report"},
		{first.Commands().Name, "TOMBSTONE_COMMANDS"},
		{first.Commands().Subjects, "tombstone.command.>"},
		{first.Reports().Name, "TOMBSTONE_REPORTS"},
		{first.Reports().Subjects, "tombstone.report.>"},
		{first.Events().Name, "TOMBSTONE_EVENTS"},
		{first.Events().Subjects, "tombstone.event.>"},
		{first.Dead().Name, "TOMBSTONE_DEAD"},
		{first.Dead().Subjects, "tombstone.dead.>"},
		{second.Commands().Name, "SECOND_2_COMMANDS"},
		{second.Commands().Subjects, "second-2.command.>"},
		{second.Report(events.TypePartProgress, "a-1"), "second-2.report.part.progress." + events.AssetHash("a-1")},
		{second.DeadLetter(second.Report(events.TypePartErased, "a-1")), "second-2.dead.report.part.erased." + events.AssetHash("a-1")},
		{second.EraseConsumer(), "second-2-erase"},
	} {
		if c.got != c.want {
			t.Errorf("want %s, got %s", c.want, c.got)
		}
	}
	if got := events.AssetHash("a-1"); got != hash {
		t.Errorf("AssetHash: want the first 32 digits of SHA-256, %s, got %s", hash, got)
	}
}

func TestNamespacesThatWouldBreakNamesAreRefused(t *testing.T) {
	for _, good := range []string{"tombstone", "a", "a-b", "9", strings.Repeat("x", 32)} {
		if err := events.CheckNamespace(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{"", "A", "a.b", "a_b", "a b", "*", ">", "ü", "a\n", "-a", "a-", strings.Repeat("x", 33)} {
		if err := events.CheckNamespace(bad); err == nil {
			t.Errorf("%q: want a refusal", bad)
		}
	}
}
