package events_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/events"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestEveryMessageTypeIsOnTheWireAsInItsGoldenFile(t *testing.T) {
	for _, s := range samples() {
		t.Run(s.name, func(t *testing.T) {
			got, err := events.Encode(s.envelope, s.data)
			if err != nil {
				t.Fatal(err)
			}
			var indented bytes.Buffer
			if err := json.Indent(&indented, got, "", "  "); err != nil {
				t.Fatal(err)
			}
			indented.WriteByte('\n')
			file := filepath.Join("testdata", s.name+".json")
			if *update {
				if err := os.WriteFile(file, indented.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), indented.String()); diff != "" {
				t.Errorf("on the wire (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatIsEncodedDecodesToTheSame(t *testing.T) {
	for _, s := range samples() {
		t.Run(s.name, func(t *testing.T) {
			b, err := events.Encode(s.envelope, s.data)
			if err != nil {
				t.Fatal(err)
			}
			envelope, data, err := decodeAs(b, s.data)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(s.envelope, envelope); diff != "" {
				t.Errorf("envelope (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(s.data, data); diff != "" {
				t.Errorf("data (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTimesTravelInUTC(t *testing.T) {
	e := envelope("/tombstone/asset", events.TypePartErased)
	e.Time = at.In(time.FixedZone("", 3600))
	part := evidence("payload")
	part.SeenAbsentAt = e.Time
	b, err := events.Encode(e, &events.PartErased{Deletion: deletion, Asset: "a", Generation: generation, PartEvidence: part})
	if err != nil {
		t.Fatal(err)
	}
	got, data, err := events.DecodeReport(b)
	if err != nil {
		t.Fatal(err)
	}
	seen := data.(*events.PartErased).SeenAbsentAt
	for what, got := range map[string]time.Time{"time": got.Time, "seen_absent_at": seen} {
		if !got.Equal(at) || got.Location() != time.UTC {
			t.Errorf("%s: want %v, got %v", what, at, got)
		}
	}
}

// good is a command as JSON that the tests below spoil.
const good = `{"specversion":"1.0","id":"m-1","source":"/tombstone/dependency","type":"tombstone.erase.v1","time":"2026-03-14T15:09:26Z",` +
	`"datacontenttype":"application/json","data":{"deletion":"d-1","asset":"a-1","kind":"mesh","owner":"acme","generation":"g-1","by":"x","reason":"y"}}`

// H-11, H-22, H-52 (a command without an owner).
func TestAnUnreadableCommandSaysWhy(t *testing.T) {
	replace := func(old, new string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("the good command has no %s", old)
		}
		return strings.Replace(good, old, new, 1)
	}
	for name, c := range map[string]struct{ message, why string }{
		"nothing":                     {"", "JSON"},
		"null":                        {"null", ""},
		"cut off":                     {good[:40], "JSON"},
		"two values":                  {good + good, "JSON"},
		"an array":                    {"[" + good + "]", ""},
		"not UTF-8":                   {replace("a-1", "a-\xff"), "UTF-8"},
		"half a character escaped":    {replace("a-1", `a-\ud83e`), "half of a character"},
		"the other half escaped":      {replace("a-1", `\udd8a`), "half of a character"},
		"halves in the wrong order":   {replace("a-1", `\udd8a\ud83e`), "half of a character"},
		"no specversion":              {replace(`"specversion":"1.0",`, ""), ""},
		"specversion 0.3":             {replace(`"1.0"`, `"0.3"`), "specversion"},
		"specversion 99":              {replace(`"1.0"`, `"99"`), "specversion"},
		"no id":                       {replace(`"id":"m-1",`, ""), "id"},
		"an empty id":                 {replace("m-1", ""), "id"},
		"an id of the wrong type":     {replace(`"m-1"`, "1"), ""},
		"an id that is too long":      {replace("m-1", strings.Repeat("m", 257)), "id"},
		"no source":                   {replace(`"source":"/tombstone/dependency",`, ""), "source"},
		"no type":                     {replace(`"type":"tombstone.erase.v1",`, ""), "type"},
		"an unknown type":             {replace("tombstone.erase.v1", "example.erase.v2"), `"example.erase.v2"`},
		"a type of no version":        {replace("tombstone.erase.v1", "tombstone.erase"), `"tombstone.erase"`},
		"a report":                    {replace("tombstone.erase.v1", "tombstone.asset.erased.v1"), "not one of a command"},
		"no time":                     {replace(`"time":"2026-03-14T15:09:26Z",`, ""), "time"},
		"a time that is none":         {replace("2026-03-14T15:09:26Z", "yesterday"), ""},
		"a time out of range":         {replace("2026-03-14T15:09:26Z", "9999-12-31T23:59:59-01:00"), "time"},
		"data that is not JSON":       {replace("application/json", "text/plain"), ""},
		"no data":                     {good[:strings.Index(good, `,"data"`)] + "}", "data is missing"},
		"data that is null":           {good[:strings.Index(good, `{"deletion`)] + "null}", "data"},
		"data that is a string":       {good[:strings.Index(good, `{"deletion`)] + `"x"}`, "data must be an object"},
		"data that is an array":       {good[:strings.Index(good, `{"deletion`)] + `[]}`, "data must be an object"},
		"no deletion":                 {replace(`"deletion":"d-1",`, ""), "deletion"},
		"deletion spelt otherwise":    {replace(`"deletion"`, `"Deletion"`), "deletion"},
		"an empty asset":              {replace("a-1", ""), "asset"},
		"an asset that is null":       {replace(`"a-1"`, "null"), "asset"},
		"an asset that is a number":   {replace(`"a-1"`, "7"), "asset must be a string"},
		"an asset over 256 bytes":     {replace("a-1", strings.Repeat("ü", 129)), "256"},
		"an asset given twice":        {replace(`"asset":"a-1"`, `"asset":"a-1","asset":"a-2"`), "given twice"},
		"no kind":                     {replace(`"kind":"mesh",`, ""), "kind"},
		"no owner":                    {replace(`"owner":"acme",`, ""), "owner"},
		"no generation":               {replace(`"generation":"g-1",`, ""), "generation"},
		"a reason of the wrong type":  {replace(`"y"`, "{}"), "reason"},
		"parts that are an array":     {replace(`"by":"x"`, `"parts":["raw"]`), "parts"},
		"parts that are empty":        {replace(`"by":"x"`, `"parts":{}`), "parts must not be empty"},
		"a part without a generation": {replace(`"by":"x"`, `"parts":{"raw":null}`), "parts"},
		"a part without a name":       {replace(`"by":"x"`, `"parts":{"":"g-1"}`), "parts"},
		"nested without end":          {replace(`"by":"x"`, `"x":`+strings.Repeat("[", 200)+strings.Repeat("]", 200)), "nested"},
	} {
		t.Run(name, func(t *testing.T) {
			envelope, data, err := events.DecodeCommand([]byte(c.message))
			if !errors.Is(err, events.ErrUnreadable) {
				t.Fatalf("want ErrUnreadable, got %v and %+v", err, data)
			}
			if !strings.Contains(err.Error(), c.why) {
				t.Errorf("want %q in the reason, got %q", c.why, err)
			}
			if diff := cmp.Diff(events.Erase{}, data); diff != "" || envelope != (events.Envelope{}) {
				t.Errorf("an unreadable message gave data: %+v %+v", envelope, data)
			}
		})
	}
}

func TestWhatANewerSenderAddsIsAccepted(t *testing.T) {
	newer := strings.Replace(good, `"by"`, `"Asset":"other","added":{"by":[1,2.5,null]},"by"`, 1)
	newer = strings.Replace(newer, `"id"`, `"tracestate":"a=b","sampled":1,"id"`, 1)
	_, want, err := events.DecodeCommand([]byte(good))
	if err != nil {
		t.Fatal(err)
	}
	_, got, err := events.DecodeCommand([]byte(newer))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("data (-want +got):\n%s", diff)
	}
}

func TestAnEscapedCharacterIsReadWhole(t *testing.T) {
	_, got, err := events.DecodeCommand([]byte(strings.Replace(good, "a-1", `\\ud83e\ud83e\udd8a\u00e9`, 1)))
	if err != nil || got.Asset != `\ud83e🦊é` {
		t.Errorf("want the asset `\\ud83e🦊é`, got %q, %v", got.Asset, err)
	}
}

func TestReportsAndEventsAreStrictToo(t *testing.T) {
	spoil := func(name, old, new string) []byte {
		b, err := os.ReadFile(filepath.Join("testdata", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(b, []byte(old)) {
			t.Fatalf("%s has no %s", name, old)
		}
		return bytes.Replace(b, []byte(old), []byte(new), 1)
	}
	report := func(b []byte) error { _, _, err := events.DecodeReport(b); return err }
	event := func(b []byte) error { _, _, err := events.DecodeEvent(b); return err }
	for name, c := range map[string]struct {
		decode  func([]byte) error
		message []byte
		why     string
	}{
		"a command among the reports":   {report, spoil("erase", "1.0", "1.0"), "not one of a report"},
		"an event among the reports":    {report, spoil("event-deletion-requested", "1.0", "1.0"), "not one of a report"},
		"a command among the events":    {event, spoil("erase", "1.0", "1.0"), "not one of an event"},
		"progress among the events":     {event, spoil("part-progress", "1.0", "1.0"), "not one of an event"},
		"a report among the events":     {event, spoil("asset-erased", "1.0", "1.0"), "sequence"},
		"an event without its sequence": {event, spoil("event-asset-erased", `"sequence"`, `"number"`), "sequence"},
		"a sequence below one":          {event, spoil("event-asset-erased", `: 7`, `: -7`), "sequence"},
		"a sequence that is a fraction": {event, spoil("event-asset-erased", `: 7`, `: 7.5`), "sequence"},
		"evidence of the wrong type":    {event, spoil("event-part-erased", `"evidence": {`, `"evidence": 1, "x": {`), "evidence"},
		"evidence without its time":     {event, spoil("event-part-erased", `"seen_absent_at"`, `"seen"`), "seen_absent_at"},
		"a part without its time":       {report, spoil("part-erased", `"seen_absent_at"`, `"seen"`), "seen_absent_at"},
		"a negative count":              {report, spoil("part-erased", "34567", "-1"), "bytes"},
		"an asset without its parts":    {report, spoil("asset-erased", `"parts"`, `"pieces"`), "parts"},
		"parts that are no objects":     {report, spoil("asset-erased-without-parts", "[]", "[1]"), "parts"},
		"a part among parts unnamed":    {report, spoil("asset-erased", `"part": "payload",`, ""), "part"},
		"an unknown progress status":    {report, spoil("part-progress", `"erasing"`, `"resting"`), "status"},
		"progress without an asset":     {report, spoil("part-progress", `"a-1"`, `""`), "asset"},
		"a next try that is no time":    {report, spoil("part-progress-blocked", "2026-03-14T16:09:26.535897Z", "soon"), "next_try"},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.decode(c.message)
			if !errors.Is(err, events.ErrUnreadable) || !strings.Contains(err.Error(), c.why) {
				t.Errorf("want ErrUnreadable with %q, got %v", c.why, err)
			}
		})
	}
}

func TestEncodeRefusesWhatCouldNotBeRead(t *testing.T) {
	command := samples()[0]
	erase := command.data.(events.Erase)
	with := func(change func(*events.Erase)) events.Erase {
		e := erase
		change(&e)
		return e
	}
	for name, c := range map[string]struct {
		envelope events.Envelope
		data     any
	}{
		"no message data":             {command.envelope, "text"},
		"data of another type":        {command.envelope, audit(nil)},
		"a report's type on audit":    {envelope("/s", events.TypePartProgress), audit(nil)},
		"a missing asset":             {command.envelope, with(func(e *events.Erase) { e.Asset = "" })},
		"an asset that is no UTF-8":   {command.envelope, with(func(e *events.Erase) { e.Asset = "a\xff" })},
		"parts that are empty":        {command.envelope, with(func(e *events.Erase) { e.Parts = map[string]string{"": ""} })},
		"a zero time":                 {events.Envelope{ID: "1", Source: "/s", Type: events.TypeErase}, erase},
		"a message id not UTF-8":      {events.Envelope{ID: "\xff", Source: "/s", Type: events.TypeErase, Time: at}, erase},
		"an event without a number":   {envelope("/s", events.TypeAssetErased), audit(func(e *events.AuditEvent) { e.Sequence = 0 })},
		"evidence that has no time":   {envelope("/s", events.TypePartErased), events.PartErased{Deletion: "d", Asset: "a", Generation: "g", PartEvidence: events.PartEvidence{Part: "p", Generation: "g"}}},
		"a source that is no address": {events.Envelope{ID: "1", Source: "http://[", Type: events.TypeErase, Time: at}, erase},
	} {
		t.Run(name, func(t *testing.T) {
			if b, err := events.Encode(c.envelope, c.data); err == nil {
				t.Errorf("want an error, got %s", b)
			}
		})
	}
}

// H-13.
func TestALongOrBrokenTextIsCutAndMarkedNotRefused(t *testing.T) {
	next := at.Add(time.Minute)
	data := events.PartProgress{Deletion: deletion, Asset: "a", Generation: generation, Status: events.ProgressRetry, NextTry: &next,
		Reason: "a\xffb", LastError: strings.Repeat("ü", 1<<20)}
	b, err := events.Encode(envelope("/tombstone/asset", events.TypePartProgress), data)
	if err != nil {
		t.Fatal(err)
	}
	if len(b) > 64<<10 {
		t.Errorf("the message has %d bytes", len(b))
	}
	_, got, err := events.DecodeReport(b)
	if err != nil {
		t.Fatal(err)
	}
	progress := got.(*events.PartProgress)
	if progress.Reason != "a\uFFFDb" {
		t.Errorf("reason: got %q", progress.Reason)
	}
	if text := progress.LastError; !utf8.ValidString(text) || !strings.HasSuffix(text, "(cut)") || !strings.HasPrefix(text, "üüü") {
		t.Errorf("last_error: want it cut at a character and marked, got %d bytes ending in %q", len(text), text[len(text)-12:])
	}
}

func TestATraceContextThatIsNoneIsLeftOut(t *testing.T) {
	e := envelope("/tombstone/dependency", events.TypeErase)
	e.TraceParent = "garbage"
	b, err := events.Encode(e, samples()[0].data)
	if err != nil || bytes.Contains(b, []byte("traceparent")) {
		t.Errorf("encode: %v %s", err, b)
	}
	got, _, err := events.DecodeCommand([]byte(strings.Replace(good, `"id"`, `"traceparent":"garbage","id"`, 1)))
	if err != nil || got.TraceParent != "" {
		t.Errorf("decode: %v %+v", err, got)
	}
}
