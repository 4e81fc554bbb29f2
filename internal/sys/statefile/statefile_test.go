package statefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/sys/lockfile"
)

type state struct {
	Count int `json:"count"`
}

func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "below", "state.json")
	if got, err := Read[state](path, 100); got != (state{}) || !errors.Is(err, fs.ErrNotExist) || IsDamaged(err) {
		t.Errorf("missing: %v, %v", got, err)
	}
	if err := Write(path, state{3}); err != nil {
		t.Fatal(err)
	}
	if got, err := Read[state](path, 100); got != (state{3}) || err != nil {
		t.Errorf("whole: %v, %v", got, err)
	}
	if _, err := Read[state](path, 5); err == nil || IsDamaged(err) {
		t.Errorf("too large: %v", err)
	}
	if err := os.WriteFile(path, []byte(`{"count":4,"count":"five"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := Read[state](path, 100); got != (state{}) || !IsDamaged(err) || !strings.Contains(err.Error(), "cannot unmarshal") {
		t.Errorf("damaged: %v, %v", got, err)
	}
}

func TestUpdate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.json")
	lock := Lock{Path: path + lockfile.Suffix, Patience: 30 * time.Second, What: "the state"}
	read := func() (state, error) {
		s, err := Read[state](path, 100)
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return s, err
	}
	count := func(s *state) error { s.Count++; return nil }

	var crowd sync.WaitGroup
	for range 20 {
		crowd.Go(func() {
			if err := Update(t.Context(), path, lock, read, count); err != nil {
				t.Error(err)
			}
		})
	}
	crowd.Wait()
	want := func(what string, n int) {
		t.Helper()
		if s, err := read(); s.Count != n || err != nil {
			t.Errorf("%s: %v, %v", what, s, err)
		}
	}
	want("after a crowd", 20)

	keep := func(s *state) error { s.Count = 0; return ErrKeep }
	if err := Update(t.Context(), path, lock, read, keep); err != nil {
		t.Error(err)
	}
	broken := errors.New("broken")
	fail := func(s *state) error { s.Count = 0; return broken }
	if err := Update(t.Context(), path, lock, read, fail); !errors.Is(err, broken) {
		t.Errorf("a change that fails: %v", err)
	}
	unread := func() (state, error) { return state{}, broken }
	if err := Update(t.Context(), path, lock, unread, count); !errors.Is(err, broken) {
		t.Errorf("a file that cannot be read: %v", err)
	}
	want("unchanged", 20)

	release, err := lockfile.Acquire(t.Context(), lock.Path, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	lock.Patience = 0
	if err := Update(t.Context(), path, lock, read, count); !errors.Is(err, lockfile.ErrBusy) || !strings.HasPrefix(err.Error(), "lock the state: ") {
		t.Errorf("while another one has the lock: %v", err)
	}
}
