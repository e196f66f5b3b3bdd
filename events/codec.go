package events

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/url"
	"regexp"
	"unicode/utf8"

	"github.com/cloudevents/sdk-go/v2/event"
)

// ErrUnreadable is what every decoding error wraps: the message can never be read, so it goes to the dead letters.
var ErrUnreadable = errors.New("unreadable message")

// traceParentShape is a W3C traceparent of version 00.
var traceParentShape = regexp.MustCompile(`^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$`)

const (
	traceParentAttribute = "traceparent"
	contentType          = "application/json"
)

// Encode writes a message as a CloudEvents 1.0 event in JSON. data is the type that goes with e.Type: Erase, PartErased,
// AssetErased, PartProgress, or AuditEvent for every type of the events stream, or a pointer to one. Free texts are clipped (Clip); a trace
// context that is not one is left out; anything that could not be decoded again is an error.
func Encode(e Envelope, data any) ([]byte, error) {
	p, ok := data.(payload)
	if !ok {
		return nil, fmt.Errorf("encode %s: %T is not the data of a message", e.Type, data)
	}
	for _, id := range append(p.ids(), e.ID) {
		if !utf8.ValidString(id) {
			return nil, fmt.Errorf("encode %s: %q is not valid UTF-8", e.Type, id)
		}
	}
	body, err := marshal(p.clipped())
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", e.Type, err)
	}
	b, err := wrap(e, body)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", e.Type, err)
	}
	if err := readable(b, p); err != nil {
		return nil, fmt.Errorf("encode %s: %w", e.Type, err)
	}
	return b, nil
}

// marshal is json.Marshal without escapes for HTML.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// wrap puts data into its event.
func wrap(e Envelope, data []byte) ([]byte, error) {
	ev := event.New(event.CloudEventsVersionV1)
	ev.SetID(e.ID)
	ev.SetSource(e.Source)
	ev.SetType(e.Type)
	ev.SetTime(e.Time)
	if traceParentShape.MatchString(e.TraceParent) {
		ev.SetExtension(traceParentAttribute, e.TraceParent)
	}
	ev.SetDataContentType(contentType)
	ev.DataEncoded = data // not SetData: it would turn bytes into base64
	if err := ev.Validate(); err != nil {
		return nil, err
	}
	return ev.MarshalJSON()
}

// readable checks that the receiver will read what we send. That it is JSON, with each member once, the encoder sees to.
func readable(b []byte, p payload) error {
	var err error
	switch p.(type) {
	case Erase, *Erase:
		_, _, err = decode(b, readCommand)
	case Report:
		_, _, err = decode(b, readReport)
	default:
		_, _, err = decode(b, readEvent)
	}
	return err
}

// DecodeCommand reads a message of the commands stream. Errors wrap ErrUnreadable or ErrNewer and say why.
func DecodeCommand(b []byte) (Envelope, Erase, error) { return decodeForeign(b, readCommand) }

// DecodeReport reads a message of the reports stream: a *PartErased, *AssetErased or *PartProgress. Errors wrap ErrUnreadable or ErrNewer and say why.
func DecodeReport(b []byte) (Envelope, Report, error) { return decodeForeign(b, readReport) }

// DecodeEvent reads a message of the events stream. Errors wrap ErrUnreadable or ErrNewer and say why.
func DecodeEvent(b []byte) (Envelope, AuditEvent, error) { return decodeForeign(b, readEvent) }

func readCommand(eventType string, o *object) Erase {
	if eventType != TypeErase {
		o.fail("type %q is not one of a command", eventType)
	}
	return readErase(o)
}

func readEvent(eventType string, o *object) AuditEvent {
	switch eventType {
	case TypeDeletionRequested, TypeDeletionCancelled, TypeDeletionCompleted, TypeDeletionStalled, TypeDeletionBlocked,
		TypePartErased, TypeAssetErased:
	default:
		o.fail("type %q is not one of an event", eventType)
	}
	return readAuditEvent(o)
}

// decodeForeign reads what anybody may have written.
func decodeForeign[T any](b []byte, read func(eventType string, o *object) T) (Envelope, T, error) {
	if err := CheckJSON(b, maxDepth); err != nil {
		var none T
		return Envelope{}, none, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	return decode(b, read)
}

// decode reads JSON that CheckJSON has no quarrel with.
func decode[T any](b []byte, read func(eventType string, o *object) T) (Envelope, T, error) {
	var none T
	e, data, err := unwrap(b)
	if err != nil {
		return Envelope{}, none, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	if newer(e.Type) {
		return Envelope{}, none, fmt.Errorf("%w: type %q", ErrNewer, e.Type)
	}
	o := newObject(data, "data")
	value := read(e.Type, o)
	if o.err != nil {
		return Envelope{}, none, fmt.Errorf("%w: %w", ErrUnreadable, o.err)
	}
	return e, value, nil
}

// unwrap reads an event up to its data.
func unwrap(b []byte) (Envelope, []byte, error) {
	var ev event.Event
	if err := ev.UnmarshalJSON(b); err != nil {
		return Envelope{}, nil, err
	}
	if v := ev.SpecVersion(); v != event.CloudEventsVersionV1 {
		return Envelope{}, nil, fmt.Errorf("specversion %q is not %s", v, event.CloudEventsVersionV1)
	}
	if err := ev.Validate(); err != nil {
		return Envelope{}, nil, err
	}
	e, err := envelope(ev)
	if err != nil {
		return Envelope{}, nil, err
	}
	return e, ev.DataEncoded, nil
}

// envelope reads the attributes.
func envelope(ev event.Event) (Envelope, error) {
	if media, _, err := mime.ParseMediaType(ev.DataContentType()); ev.DataContentType() != "" && (err != nil || media != contentType) {
		return Envelope{}, fmt.Errorf("datacontenttype %q is not %s", ev.DataContentType(), contentType)
	}
	if ev.DataBase64 {
		return Envelope{}, errors.New("data is not JSON but base64")
	}
	for name, s := range map[string]string{"id": ev.ID(), "source": ev.Source()} {
		if err := checkID(s); err != nil {
			return Envelope{}, fmt.Errorf("%s %w", name, err)
		}
	}
	if u, err := url.Parse(ev.Source()); err != nil || u.String() != ev.Source() {
		return Envelope{}, fmt.Errorf("source %q is not a URI reference", ev.Source())
	}
	at, err := checkTime(ev.Time())
	if err != nil {
		return Envelope{}, fmt.Errorf("time %w", err)
	}
	e := Envelope{ID: ev.ID(), Source: ev.Source(), Type: ev.Type(), Time: at}
	if trace, ok := ev.Extensions()[traceParentAttribute].(string); ok && traceParentShape.MatchString(trace) {
		e.TraceParent = trace
	}
	return e, nil
}
