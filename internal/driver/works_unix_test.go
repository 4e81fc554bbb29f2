//go:build unix

package driver

import "testing"

// What a client shows is asked where its hooks may not have told: not of a person who
// interrupts it, and not always of what a person typed while it worked.
func TestAClientThatShowsThatItWorks(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		busy  bool // by its hooks
		looks looks
		typed bool
	}{
		{"free, and shows nothing", false, looks{Moves: true}, true},
		{"free, but goes on", false, looks{Works: true, Moves: true}, false},
		{"free, and always looks so", false, looks{Works: true}, true},
		{"busy", true, looks{Works: true, Moves: true}, false},
		{"busy without moving", true, looks{Works: true}, false},
		{"interrupted", true, looks{}, true},
		{"interrupted, as far as is known", true, looks{Moves: true}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.pace.Still = 20 * glance
			w := s.ready(mainSession).live()
			if tt.busy {
				w.prompt("p0", "a person's")
			}
			w.give("/gsd:a")
			w.show(tt.looks)
			s.deliver()
			if !tt.typed {
				if d := s.active(); d.State != "waiting" || d.Why != "the client is busy" || d.Tries != 0 {
					t.Errorf("the delivery is %+v", d)
				}
				w.wantBytes("")
				return
			}
			eventually(t, "the queue is complete", func() bool { return len(s.letters()) > 0 })
			w.wantBytes(pasted("/gsd:a") + enter)
		})
	}
}
