package daemon

import (
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
)

// Of an owner whose record is damaged nothing is told that is not known.
func TestAboutOneThatIsHeld(t *testing.T) {
	s := ownerShow{owner: daemonapi.Owner{ID: "996603c0236f524b", Status: ownerHeld}}
	if got, want := s.about(time.Now()), "nothing else is known about it; give it up with: stopgate pipeline cancel --give-up 996603c0"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
