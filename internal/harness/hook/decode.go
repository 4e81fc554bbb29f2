package hook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"github.com/stopgate/stopgate/internal/sys/rawjson"
)

// PayloadError says everything that is wrong with a payload.
type PayloadError struct {
	Event  Event // empty when not even the event is known
	Faults []string
}

func (e *PayloadError) Error() string {
	what := "invalid payload: "
	if e.Event != "" {
		what = "invalid " + string(e.Event) + " payload: "
	}
	return what + strings.Join(e.Faults, "; ")
}

// Decode reads a payload strictly: every fault of it is in the error, in the
// order of the fields. want is the event the caller was asked to answer; empty
// means that the payload's own hook_event_name is believed. An event without a
// type of its own decodes to its base fields.
func Decode(data []byte, want Event) (Payload, error) {
	members, err := split(data)
	if err != nil {
		return nil, &PayloadError{Event: want, Faults: []string{err.Error()}}
	}
	event := want
	if event == "" {
		event = eventOf(members)
	}
	payload := newPayload(event)
	base := payload.Common()
	base.members = members

	d := newDecoder(members)
	for _, f := range fieldsOf(payload) {
		d.field(f)
	}
	if got := base.HookEventName; want != "" && got != "" && Event(got) != want {
		d.fault("hook_event_name is %q, but %s was called", clip(got), want)
	}
	if len(d.faults) > 0 {
		return nil, &PayloadError{Event: event, Faults: d.faults}
	}
	return payload, nil
}

func eventOf(members []rawjson.Member) Event {
	for _, m := range members {
		var name string
		if m.Name == "hook_event_name" && kind(m.Value) == stringKind && assign(&name, m.Value) == nil {
			return Event(clip(name))
		}
	}
	return ""
}

// decoder fills fields and collects what is wrong with them.
type decoder struct {
	values map[string]json.RawMessage
	faults []string
}

// newDecoder finds fault with names that stand there twice.
func newDecoder(members []rawjson.Member) *decoder {
	d := &decoder{values: make(map[string]json.RawMessage, len(members))}
	for _, m := range members {
		if _, twice := d.values[m.Name]; twice {
			d.fault("duplicate field: %s", clip(m.Name))
		}
		d.values[m.Name] = m.Value
	}
	return d
}

func (d *decoder) fault(format string, args ...any) {
	d.faults = append(d.faults, fmt.Sprintf(format, args...))
}

func (d *decoder) field(f field) {
	raw, present := d.values[f.name]
	if !present || isNull(raw) {
		if f.need != optional {
			d.fault("missing required field: %s", f.name)
		}
		return
	}
	if want, got := kindOf(f.dst), kind(raw); want != anyKind && want != got {
		d.fault("%s must be %s, not %s", f.name, want, got)
		return
	}
	if err := assign(f.dst, raw); err != nil {
		d.fault("%s cannot be read: %v", f.name, err)
		return
	}
	if text, ok := f.dst.(*string); ok && f.need == nonBlank && strings.TrimSpace(*text) == "" {
		d.fault("%s is required and cannot be empty", f.name)
	}
}

// assign is json.Unmarshal, without its cost for the values that are common:
// encoding/json takes a tenth of a millisecond to get going.
func assign(dst any, raw json.RawMessage) error {
	switch v := dst.(type) {
	case *string:
		if bytes.IndexByte(raw, '\\') < 0 {
			*v = string(raw[1 : len(raw)-1])
			return nil
		}
	case *bool:
		*v = raw[0] == 't'
		return nil
	case *json.RawMessage:
		*v = raw
		return nil
	case *[]json.RawMessage:
		if string(raw) == "[]" {
			*v = []json.RawMessage{}
			return nil
		}
	}
	return json.Unmarshal(raw, dst)
}

// The kinds of JSON values, as a message calls them.
const (
	anyKind    = ""
	stringKind = "a string"
	boolKind   = "a boolean"
	numberKind = "a number"
	arrayKind  = "an array"
	objectKind = "an object"
)

func kindOf(dst any) string {
	switch dst.(type) {
	case *string:
		return stringKind
	case *bool:
		return boolKind
	case *float64:
		return numberKind
	case *[]json.RawMessage:
		return arrayKind
	}
	return anyKind
}

func kind(raw json.RawMessage) string {
	switch raw[0] {
	case '"':
		return stringKind
	case 't', 'f':
		return boolKind
	case '[':
		return arrayKind
	case '{':
		return objectKind
	}
	return numberKind
}

func isNull(raw json.RawMessage) bool { return string(raw) == "null" }

// clip keeps a stranger's text short where it is quoted, and free of what would
// steer a terminal.
func clip(s string) string {
	const most = 64
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
