package memory

import (
	"context"
	"errors"
	"testing"

	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/control/store/storetest"
)

func TestContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Backend {
		s := New()
		return storetest.Backend{
			Open:   func(testing.TB) store.Store { s = s.Reopen(); return s },
			Second: func(testing.TB) store.Store { return s.Reopen() },
			Unique: true,
			Lose: func(t testing.TB, _ store.Store, do func(context.Context)) {
				s.Inject(func(store.NewEvent) Fault { return LostAfter })
				do(t.Context())
				s.Inject(nil)
			},
			Damage: func(t testing.TB, at store.Position) {
				for i, e := range s.log.events {
					if e.Position == at {
						s.log.events[i].Data[0] ^= 1
					}
				}
			},
		}
	})
}

func TestFaults(t *testing.T) {
	for fault, want := range map[Fault]struct {
		err      error
		appended bool
	}{
		None:       {nil, true},
		Refused:    {errRefused, false},
		LostBefore: {store.ErrUnknown, false},
		LostAfter:  {store.ErrUnknown, true},
	} {
		s := New()
		s.Inject(func(store.NewEvent) Fault { return fault })
		_, err := s.Append(t.Context(), store.NewEvent{Subject: "a", ID: "1"})
		if !errors.Is(err, want.err) {
			t.Errorf("fault %d: %v, want %v", fault, err, want.err)
		}
		head, err := s.Head(t.Context(), "a")
		if err != nil || (head.Position != 0) != want.appended {
			t.Errorf("fault %d: head %v, %v; appended: want %v", fault, head, err, want.appended)
		}
	}
}
