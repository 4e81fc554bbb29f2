package queue

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// full has something in every field.
func full() Queue {
	const odd = "a\x00<&>\u2028 ü🎉\r\n\t\"\\\x7f"
	at, sub := Time{noon}, "clear"
	return Queue{
		Status: Cancelled,
		Commands: []Command{{
			ID: -7, Command: odd, Status: Done, Trigger: Hook{odd, &sub}, Awaits: Hook{"Stop", nil}, Result: new(string), CompletedAt: &at,
			Stopgate: &Delivery{
				State: Confirmed, Tries: 1, Enters: 2, TypedAt: &at, EnteredAt: &at, ConfirmedAt: &at,
				PromptID: "p1", Ahead: "p3", LaterPrompt: "p2", Why: "a\nb\tc\"d\\e",
			},
		}},
		Stopgate: &Meta{
			ID: "q1", Session: odd, CreatedAt: at, Place: &Place{"socket", 1, "%0"}, Key: "k", ClaudeSession: "c", OtherPrompt: "p4", EndedAt: &at,
			Ending: &Ending{Broken, odd, odd},
		},
	}
}

// fields tells which fields hold something, in any value of their type.
func fields(v reflect.Value, filled map[string]bool) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			fields(v.Elem(), filled)
		}
	case reflect.Slice:
		for i := range v.Len() {
			fields(v.Index(i), filled)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type() == reflect.TypeFor[Time]() {
				return
			}
			name := v.Type().Name() + "." + v.Type().Field(i).Name
			filled[name] = filled[name] || !v.Field(i).IsZero()
			fields(v.Field(i), filled)
		}
	}
}

func TestEveryFieldIsWrittenAndRead(t *testing.T) {
	filled := map[string]bool{}
	fields(reflect.ValueOf(full()), filled)
	for name, ok := range filled {
		if !ok {
			t.Errorf("%s is not looked at", name)
		}
	}
	q := full()
	text, err := q.encode()
	check(t, err)
	var got Queue
	check(t, json.Unmarshal(text, &got))
	if diff := cmp.Diff(q, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !bytes.Contains(text, []byte("<&>")) || !bytes.HasSuffix(text, []byte("\n}\n")) {
		t.Errorf("it is not written for people:\n%s", text)
	}
}

// What is written is read again.
func FuzzCodec(f *testing.F) {
	whole := full()
	for _, q := range []Queue{whole, fresh("/clear", "a"), after(fresh("a"), sent(1, "p1", "a")...).Queue} {
		text, err := q.encode()
		check(f, err)
		f.Add(text)
	}
	f.Add([]byte(seedQueue))
	f.Add([]byte(`{"commands":[{"id":007,"id":1,"ID":2,"command":null,"status":"\ud800"}],"stopgate":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		q, err := Parse(data)
		if err != nil {
			return
		}
		text, err := q.encode()
		check(t, err)
		again, err := Parse(text)
		if diff := cmp.Diff(q, again); err != nil || diff != "" {
			t.Fatalf("%v (-want +got):\n%s", err, diff)
		}
	})
}
