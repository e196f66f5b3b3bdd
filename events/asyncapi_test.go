package events_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/events"
)

// object is a part of the document.
type object = map[string]any

func asyncAPI(t *testing.T) object {
	t.Helper()
	var document object
	if err := yaml.UnmarshalWithOptions(events.AsyncAPI, &document, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	return document
}

// member follows names from an object.
func member(t *testing.T, o any, names ...string) any {
	t.Helper()
	for _, name := range names {
		next, ok := o.(object)[name]
		if !ok {
			t.Fatalf("there is no %s in %v", name, slices.Sorted(maps.Keys(o.(object))))
		}
		o = next
	}
	return o
}

// resolve follows a reference, when it is one.
func resolve(t *testing.T, document object, v any) any {
	t.Helper()
	for {
		o, ok := v.(object)
		if !ok {
			return v
		}
		ref, ok := o["$ref"].(string)
		if !ok {
			return v
		}
		v = member(t, document, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
	}
}

func TestTheDocumentHoldsTogether(t *testing.T) {
	document := asyncAPI(t)
	if document["asyncapi"] != "3.0.0" || member(t, document, "info", "title") == "" || member(t, document, "info", "version") == "" {
		t.Errorf("head: %v, %v", document["asyncapi"], document["info"])
	}
	used := map[string]bool{}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case object:
			if ref, ok := v["$ref"].(string); ok {
				used[ref] = true
				if len(v) > 1 || !strings.HasPrefix(ref, "#/") {
					t.Errorf("a reference with company, or to elsewhere: %v", v)
				}
				resolve(t, document, v)
			}
			for name, inner := range v {
				if inner == nil && name != "address" { // a comma in a text that is not quoted makes such
					t.Errorf("%q has no value", name)
				}
				walk(inner)
			}
		case []any:
			for _, inner := range v {
				walk(inner)
			}
		}
	}
	walk(document)
	for section, list := range member(t, document, "components").(object) {
		for name := range list.(object) {
			if ref := "#/components/" + section + "/" + name; !used[ref] {
				t.Errorf("nothing refers to %s", ref)
			}
		}
	}
	for name, v := range member(t, document, "channels").(object) {
		if name != "replies" {
			checkChannel(t, name, v.(object))
		}
	}
	for name, v := range member(t, document, "operations").(object) {
		checkOperation(t, name, v.(object))
	}
}

// checkChannel: what an address leaves open is a parameter, and nothing else is.
func checkChannel(t *testing.T, name string, c object) {
	t.Helper()
	var open []string
	for _, found := range regexp.MustCompile(`{(\w+)}`).FindAllStringSubmatch(c["address"].(string), -1) {
		open = append(open, found[1])
	}
	parameters, _ := c["parameters"].(object)
	if diff := cmp.Diff(slices.Sorted(slices.Values(open)), slices.Sorted(maps.Keys(parameters))); diff != "" {
		t.Errorf("parameters of %s:\n%s", name, diff)
	}
	if len(c["messages"].(object)) == 0 {
		t.Errorf("%s has no message", name)
	}
}

// checkOperation: its messages are those of its channel.
func checkOperation(t *testing.T, name string, o object) {
	t.Helper()
	if o["action"] != "send" && o["action"] != "receive" {
		t.Errorf("%s does %v", name, o["action"])
	}
	sides := []object{o}
	if reply, ok := o["reply"].(object); ok {
		sides = append(sides, reply)
	}
	for _, side := range sides {
		channel := member(t, side, "channel", "$ref").(string)
		for _, m := range side["messages"].([]any) {
			if ref := m.(object)["$ref"].(string); !strings.HasPrefix(ref, channel+"/messages/") {
				t.Errorf("%s: %s is none of %s", name, ref, channel)
			}
		}
	}
}

// The schemas of the data, and of what the services ask each other, by the types that are sent.
func TestTheSchemasAreThoseOfTheTypes(t *testing.T) {
	document := asyncAPI(t)
	types := map[string]any{"Erase": events.Erase{}, "PartEvidence": events.PartEvidence{}, "PartErased": events.PartErased{}, "AssetErased": events.AssetErased{},
		"PartProgress": events.PartProgress{}, "AuditEvent": events.AuditEvent{}, "Question": events.Question{}, "Answer": events.Answer{},
		"Admission": events.Admission{}, "Admitted": events.Admitted{}, "GrantRequest": events.GrantRequest{}, "Granted": events.Granted{},
		"LeaseRequest": events.LeaseRequest{}, "RenewRequest": events.RenewRequest{}, "Leased": events.Leased{}, "Target": events.Target{}, "Sight": events.Sight{},
		"Thing": events.Thing{}, "Unseen": events.Unseen{}, "Shelf": events.Shelf{}, "Survey": events.Survey{}, "Lodger": events.Lodger{},
		"StoresView": events.StoresView{}, "BucketView": events.BucketView{}, "StoreFinding": events.StoreFinding{}}
	schemas := member(t, document, "components", "schemas").(object)
	for name := range schemas {
		if _, ok := types[name]; !ok && name != "CloudEvent" {
			t.Errorf("there is no type %s", name)
		}
	}
	for name, value := range types {
		want := object{}
		var required []string
		describe(reflect.TypeOf(value), want, &required)
		schema := member(t, schemas, name).(object)
		got, must := object{}, []string{}
		for name, s := range member(t, schema, "properties").(object) {
			got[name] = shape(s.(object))
		}
		list, _ := schema["required"].([]any)
		for _, r := range list {
			must = append(must, r.(string))
		}
		slices.Sort(required)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-type +schema):\n%s", name, diff)
		}
		if diff := cmp.Diff(append([]string{}, required...), append([]string{}, slices.Sorted(slices.Values(must))...)); diff != "" {
			t.Errorf("required of %s (-type +schema):\n%s", name, diff)
		}
	}
}

// describe lists the members of a type on the wire, with their shapes, and those that are always there.
func describe(of reflect.Type, members object, required *[]string) {
	for i := range of.NumField() {
		f := of.Field(i)
		tag, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && tag == "" {
			describe(f.Type, members, required)
			continue
		}
		if members[tag] = shapeOf(f.Type); !strings.Contains(options, "omitempty") {
			*required = append(*required, tag)
		}
	}
}

func shapeOf(of reflect.Type) string {
	switch {
	case of == reflect.TypeFor[time.Time]():
		return "string date-time"
	case of.Kind() == reflect.Pointer:
		return shapeOf(of.Elem())
	case of.Kind() == reflect.Slice:
		return "array of " + shapeOf(of.Elem())
	case of.Kind() == reflect.Map:
		if of.Elem().Kind() == reflect.Interface {
			return "object of anything"
		}
		return "object of " + shapeOf(of.Elem())
	case of.Kind() == reflect.Struct:
		return of.Name()
	case of.Kind() == reflect.Bool:
		return "boolean"
	case of.Kind() == reflect.Int, of.Kind() == reflect.Int64:
		return "integer"
	}
	return of.Kind().String()
}

// shape is that of a schema, in the words of shapeOf.
func shape(s object) string {
	if ref, ok := s["$ref"].(string); ok {
		return ref[strings.LastIndexByte(ref, '/')+1:]
	}
	if _, ok := s["enum"]; ok {
		return "string"
	}
	switch {
	case s["type"] == "array":
		return "array of " + shape(s["items"].(object))
	case s["type"] == "object" && s["additionalProperties"] == true:
		return "object of anything"
	case s["type"] == "object":
		return "object of " + shape(s["additionalProperties"].(object))
	case s["format"] != nil:
		return fmt.Sprint(s["type"], " ", s["format"])
	}
	return fmt.Sprint(s["type"])
}

func TestTheEnumerationsAreThoseOfTheConstants(t *testing.T) {
	schemas := member(t, asyncAPI(t), "components", "schemas")
	for _, c := range []struct {
		schema, name string
		want         []any
	}{
		{"PartProgress", "status", []any{events.ProgressErasing, events.ProgressBlocked, events.ProgressRetry}},
		{"Thing", "form", []any{events.FormDocument, events.FormVersion, events.FormMarker, events.FormUpload}},
	} {
		if diff := cmp.Diff(c.want, member(t, schemas, c.schema, "properties", c.name, "enum")); diff != "" {
			t.Errorf("%s.%s (-constants +schema):\n%s", c.schema, c.name, diff)
		}
	}
}

func TestTheAddressesAreTheSubjectsOfTheNames(t *testing.T) {
	document, names := asyncAPI(t), events.Names{}
	fill := strings.NewReplacer("{deletion}", "d-1", "{assetHash}", events.AssetHash("a-1"), "{subject}", "command.erase.d-1.x")
	address := func(channel string) string {
		return fill.Replace(member(t, document, "channels", channel, "address").(string))
	}
	want := map[string]string{"commands": names.Command("d-1", "a-1"), "dead": names.DeadLetter("tombstone.command.erase.d-1.x")}
	for channel, subject := range want {
		if got := address(channel); got != subject {
			t.Errorf("%s: %s, not %s", channel, got, subject)
		}
	}
	for channel, subject := range map[string]func(kind, asset string) string{"reports": names.Report, "events": names.Event} {
		var types, told []string
		for _, kind := range member(t, document, "channels", channel, "parameters", "type", "enum").([]any) {
			types = append(types, "tombstone."+kind.(string)+".v1")
			if got := strings.Replace(address(channel), "{type}", kind.(string), 1); got != subject("tombstone."+kind.(string)+".v1", "a-1") {
				t.Errorf("%s: %s", channel, got)
			}
		}
		for _, m := range member(t, document, "channels", channel, "messages").(object) {
			told = append(told, resolve(t, document, m).(object)["name"].(string))
		}
		slices.Sort(types)
		if diff := cmp.Diff(types, slices.Sorted(slices.Values(told))); diff != "" {
			t.Errorf("types of %s (-parameter +messages):\n%s", channel, diff)
		}
	}
}

// Each message that is on the wire in a golden file is one of its schema.
func TestTheGoldenMessagesFitTheirSchemas(t *testing.T) {
	document := asyncAPI(t)
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var message object
		if err := json.Unmarshal(text, &message); err != nil {
			t.Fatal(err)
		}
		channel := "reports"
		switch {
		case strings.HasPrefix(filepath.Base(file), "event-"):
			channel = "events"
		case strings.HasPrefix(filepath.Base(file), "erase"):
			channel = "commands"
		}
		found := false
		for _, m := range member(t, document, "channels", channel, "messages").(object) {
			if m := resolve(t, document, m).(object); m["name"] == message["type"] {
				found = true
				for _, part := range member(t, m, "payload", "allOf").([]any) {
					fits(t, document, file, part, message)
				}
			}
		}
		if !found {
			t.Errorf("%s: the channel %s has no message of type %v", file, channel, message["type"])
		}
	}
}

// fits holds a value to a schema: what is required is there, and where the schema has a type nothing else is.
func fits(t *testing.T, document object, where string, schema, value any) {
	t.Helper()
	s := resolve(t, document, schema).(object)
	if c, ok := s["const"]; ok && c != value {
		t.Errorf("%s: %v is not %v", where, value, c)
	}
	if list, ok := s["enum"].([]any); ok && !slices.Contains(list, value) {
		t.Errorf("%s: %v is none of %v", where, value, list)
	}
	if list, ok := value.([]any); ok {
		for i, inner := range list {
			fits(t, document, fmt.Sprint(where, "[", i, "]"), s["items"], inner)
		}
	}
	members, ok := value.(object)
	properties, closed := s["properties"].(object)
	if !ok || !closed {
		return
	}
	required, _ := s["required"].([]any)
	for _, name := range required {
		if _, ok := members[name.(string)]; !ok {
			t.Errorf("%s: %v is missing", where, name)
		}
	}
	for name, inner := range members {
		if described, ok := properties[name]; ok {
			fits(t, document, where+"."+name, described, inner)
		} else if s["type"] == "object" {
			t.Errorf("%s: %s is not described", where, name)
		}
	}
}
