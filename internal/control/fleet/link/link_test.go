package link_test

import (
	"testing"

	"github.com/stopgate/stopgate/internal/control/fleet/link"
	"github.com/stopgate/stopgate/internal/control/fleet/link/linktest"
	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

var check = checktest.OK

func TestMain(m *testing.M) {
	environtest.Clean()
	m.Run()
}

// What one member appends, another one reads.
func TestMembersShareOneStore(t *testing.T) {
	f := linktest.New(t)
	a, b := f.Member("a"), f.Member("b")
	at, err := a.Log.Append(t.Context(), store.NewEvent{Subject: link.Job("1"), ID: "x", Data: []byte("{}")})
	check(t, err)
	_, err = b.Log.Barrier(t.Context())
	check(t, err)
	head, err := b.Log.Head(t.Context(), link.Job("1"))
	check(t, err)
	if head.Position != at {
		t.Errorf("the other member sees %d, not %d", head.Position, at)
	}
}

// A member opens what the hubs have made, and makes nothing itself.
func TestMembersMakeNoStreams(t *testing.T) {
	f := linktest.New(t)
	if _, err := link.Open(t.Context(), f.Dial(), "other", "a"); err == nil {
		t.Error("a fleet that was never made is opened")
	}
}

func TestNamesAreTokens(t *testing.T) {
	for _, bad := range []string{"", "a.b", "a b", "Ä", "a*", "a>", "a@b", "UPPER", "x23456789012345678901234567890123"} {
		if link.CheckName(bad) == nil {
			t.Errorf("%q is a name", bad)
		}
	}
	check(t, link.CheckName("build-7"))
}
