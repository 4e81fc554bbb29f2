package presence

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestEveryFieldIsWrittenAndRead(t *testing.T) {
	since := time.Date(2026, 2, 20, 12, 0, 0, 123456789, time.UTC)
	for _, want := range []Client{
		{},
		{Session: "s", Socket: "/tmp/s", PID: 7, Pane: "%3", State: Busy, Since: since},
		{Session: "a\x00<\u2028 ü🎉\r\n\t\"\\", Socket: "/a b/,", Since: since},
	} {
		var got Client
		if err := json.Unmarshal(want.encode(), &got); err != nil {
			t.Fatal(err)
		}
		again, err := parse(want.encode())
		if diff := cmp.Diff(want, got) + cmp.Diff(want, again); diff != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
	plain := Client{Session: "s", Since: since}
	if _, ours := parseOurs(plain.encode()); !ours {
		t.Error("the short way does not read what was written")
	}
}

// What is read the short way is what encoding/json reads.
func FuzzParse(f *testing.F) {
	client := Client{Session: "s", Socket: "/tmp/s", PID: 7, Pane: "%3", State: Busy}
	f.Add(client.encode())
	f.Add([]byte(`{"session":"a","session":"b"}`))
	f.Add([]byte(`{"pid":1e3,"since":"2026-02-20T12:00:00+01:00"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, ours := parseOurs(data)
		var want Client
		if err := json.Unmarshal(data, &want); ours && err != nil {
			t.Fatalf("ours, but %v", err)
		}
		if diff := cmp.Diff(want, got); ours && diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}
