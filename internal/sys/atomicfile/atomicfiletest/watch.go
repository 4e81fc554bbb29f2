// Package atomicfiletest lets tests see that files are made durable.
package atomicfiletest

import (
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/atomicfile/internal/step"
)

// Steps are those that were taken since Watch.
type Steps struct {
	mu  sync.Mutex
	all []step.Step
}

// Watch records what package atomicfile does in this process until the test ends. Tests that
// use it do not run in parallel with each other.
func Watch(t testing.TB) *Steps {
	s := &Steps{}
	step.Observe(func(done step.Step) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.all = append(s.all, done)
	})
	t.Cleanup(func() { step.Observe(nil) })
	return s
}

// WantReplaced checks that the file at path was replaced durably: the new content was synced
// before it got the name, and the directory afterwards.
func (s *Steps) WantReplaced(t testing.TB, path string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if renamed := s.exchanged(t, path); renamed >= 0 && !s.syncedDir(renamed, filepath.Dir(path)) {
		t.Errorf("the directory of %s was not synced after the rename: %v", path, s.all)
	}
}

// WantExchanged checks that the file at path was replaced so that a loss of power leaves the old
// content or the new: that was synced before it got the name.
func (s *Steps) WantExchanged(t testing.TB, path string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.exchanged(t, path)
}

// exchanged finds the rename of synced content, -1 where there was none.
func (s *Steps) exchanged(t testing.TB, path string) int {
	t.Helper()
	renamed := s.index(0, func(d step.Step) bool { return d.Kind == step.Renamed && d.Path == path })
	if renamed < 0 {
		t.Errorf("%s was not replaced: %v", path, s.all)
		return -1
	}
	from := s.all[renamed].From
	if synced := s.index(0, func(d step.Step) bool { return d.Kind == step.Synced && d.Path == from }); synced < 0 || synced > renamed {
		t.Errorf("the content of %s was not synced before it got its name: %v", path, s.all)
	}
	return renamed
}

// WantMade checks that a file that is written in place is durable: it was synced, and so was
// the directory that has its name.
func (s *Steps) WantMade(t testing.TB, path string) {
	t.Helper()
	s.WantSynced(t, path)
	s.WantSyncedDir(t, filepath.Dir(path))
}

// WantSynced checks that a file was synced whose path matches the pattern.
func (s *Steps) WantSynced(t testing.TB, pattern string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.index(0, func(d step.Step) bool {
		matches, err := filepath.Match(pattern, d.Path)
		return d.Kind == step.Synced && (d.Path == pattern || err == nil && matches)
	})
	if found < 0 {
		t.Errorf("%s was not synced: %v", pattern, s.all)
	}
}

// WantSyncedDir checks that a directory was synced.
func (s *Steps) WantSyncedDir(t testing.TB, dir string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.syncedDir(0, dir) {
		t.Errorf("the directory %s was not synced: %v", dir, s.all)
	}
}

// Forget begins anew.
func (s *Steps) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = nil
}

func (s *Steps) syncedDir(from int, dir string) bool {
	return s.index(from, func(d step.Step) bool { return d.Kind == step.SyncedDir && d.Path == dir }) >= 0
}

func (s *Steps) index(from int, is func(step.Step) bool) int {
	if i := slices.IndexFunc(s.all[from:], is); i >= 0 {
		return from + i
	}
	return -1
}
