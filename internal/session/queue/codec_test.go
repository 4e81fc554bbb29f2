package queue

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// standard is a queue as encoding/json writes it for people.
func standard(t testing.TB, q Queue) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	check(t, enc.Encode(q))
	return b.String()
}

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
			ID: "q1", Session: odd, CreatedAt: at, Place: &Place{"socket", 1, "%0"}, Key: "k", ClientSession: "c", OtherPrompt: "p4", EndedAt: &at,
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
	for name, q := range map[string]Queue{
		"full":        full(),
		"new":         fresh("/clear", "a\nb"),
		"empty":       {},
		"no commands": {Commands: []Command{}},
		"zero":        {Commands: []Command{{Stopgate: &Delivery{}}}, Stopgate: &Meta{Place: &Place{}, Ending: &Ending{}}},
	} {
		if diff := cmp.Diff(standard(t, q), string(q.encode())); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	q := full()
	q.Commands[0].Command, q.Commands[0].Trigger.Hook, q.Stopgate.Session = "plain", "h", "ü🎉"
	q.Stopgate.Ending.Why, q.Stopgate.Ending.Detail = "x", "y"
	got, ours := parseOurs(q.encode())
	if diff := cmp.Diff(q, got); diff != "" || !ours {
		t.Errorf("ours %t (-want +got):\n%s", ours, diff)
	}
}

// What is read the short way is what encoding/json reads, and what is written too.
func FuzzCodec(f *testing.F) {
	whole := full()
	for _, q := range []Queue{whole, fresh("/clear", "a"), after(fresh("a"), sent(1, "p1", "a")...).Queue} {
		f.Add(q.encode())
	}
	f.Add([]byte(seedQueue))
	f.Add([]byte(`{"commands":[{"id":007,"id":1,"ID":2,"command":null,"status":"\ud800"}],"stopgate":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, ours := parseOurs(data)
		var want Queue
		err := json.Unmarshal(data, &want)
		if ours && err != nil {
			t.Fatalf("ours, but %v", err)
		}
		if diff := cmp.Diff(want, got); ours && diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
		if err != nil || want.Status != "" && want.check() != nil {
			return
		}
		if diff := cmp.Diff(standard(t, want), string(want.encode())); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}
