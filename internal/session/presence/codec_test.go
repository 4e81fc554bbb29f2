package presence

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestEveryFieldIsWrittenAndRead(t *testing.T) {
	since := time.Date(2026, 2, 20, 12, 0, 0, 123456789, time.UTC)
	b := NewBook(t.TempDir())
	for _, want := range []Instance{
		{Session: "s", Socket: "/tmp/s", PID: 7, Pane: "%3", State: Busy, Since: since},
		{Session: "a\x00<\u2028 ü🎉\r\n\t\"\\", Socket: "/a b/,", Pane: "%4", Since: since},
	} {
		check(t, b.Store(want))
		got, found := b.Load(want.Socket, want.PID, want.Pane)
		if diff := cmp.Diff(want, got); diff != "" || !found {
			t.Errorf("found %t (-want +got):\n%s", found, diff)
		}
	}
}
