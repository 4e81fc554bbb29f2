package trust

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
	"github.com/stopgate/stopgate/internal/sys/lockfile"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/process/processtest"
)

var check = checktest.OK

func TestMain(m *testing.M) {
	if processtest.Run(map[string]func([]string) error{"approve": childApprove}) {
		return
	}
	environtest.Clean()
	os.Exit(m.Run())
}

// childApprove approves a project in a state directory for ever, each time with other content.
func childApprove(args []string) error {
	for i := 0; ; i++ {
		err := os.WriteFile(paths.ProjectConfig(args[1]), []byte(fmt.Sprint(i)), 0o644)
		if err = errors.Join(err, NewStore(args[0]).Approve(args[1], time.Now())); err != nil {
			return err
		}
		fmt.Println(i)
	}
}

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// put writes a file under the project's .gauntlet/.
func put(t testing.TB, root, name, text string) {
	t.Helper()
	checktest.Write(t, filepath.Join(root, ".gauntlet", name), text)
}

// project is a project with two files, and a store that knows nothing of it.
func project(t *testing.T) (Store, string) {
	t.Helper()
	root := t.TempDir()
	put(t, root, "config.yml", "hooks: {}\n")
	put(t, root, "scripts/check.sh", "exit 1\n")
	return NewStore(t.TempDir()), root
}

func approved(t *testing.T) (Store, string) {
	t.Helper()
	s, root := project(t)
	check(t, s.Approve(root, noon))
	return s, root
}

func standing(t *testing.T, s Store, root string) Standing {
	t.Helper()
	st, err := s.Standing(root)
	check(t, err)
	return st
}

func soundCopy(st Standing) bool {
	files, err := readTree(st.Dir)
	return err == nil && hashTree(files) == st.ID
}

// wantCopy checks that the content that may run is what was approved.
func wantCopy(t *testing.T, st Standing) {
	t.Helper()
	for name, want := range map[string]string{"config.yml": "hooks: {}\n", "scripts/check.sh": "exit 1\n"} {
		if got, err := os.ReadFile(filepath.Join(st.Dir, name)); string(got) != want {
			t.Errorf("%s of the copy holds %q, %v; want %q", name, got, err, want)
		}
	}
}

func TestRulingT3NeverApproved(t *testing.T) {
	s, root := project(t)
	st := standing(t, s, root)
	if st.State != Untrusted || st.Dir != "" || s.Claims(root) {
		t.Errorf("got %+v, claimed %t; want untrusted", st, s.Claims(root))
	}
}

func TestRulingT2EveryFileIsApprovedWithACopy(t *testing.T) {
	s, root := approved(t)
	st := standing(t, s, root)
	if st.State != Approved || len(st.Changed) > 0 || !st.ApprovedAt.Equal(noon) || !s.Claims(root) {
		t.Errorf("got %+v, want approved", st)
	}
	wantCopy(t, st)
}

// Runbooks alone are approved like everything else, but hold nobody to a gate.
func TestGated(t *testing.T) {
	s, root := project(t)
	if s.Gated(root) {
		t.Error("before it was approved")
	}
	check(t, s.Approve(root, noon))
	check(t, os.Remove(filepath.Join(root, ".gauntlet", "config.yml")))
	if !s.Gated(root) {
		t.Error("not after the file was deleted")
	}
	check(t, s.Approve(root, noon))
	if s.Gated(root) || !s.Claims(root) {
		t.Errorf("without a configuration: gated %t, claimed %t", s.Gated(root), s.Claims(root))
	}
	for _, name := range []string{approvalFile, spareFile} {
		check(t, os.WriteFile(filepath.Join(s.folder(keys(root)[0]), name), []byte("{"), 0o600))
	}
	if !s.Gated(root) {
		t.Error("not with a damaged approval")
	}
}

// onUnix skips a test of what Windows does not have: modes, and some characters in names.
func onUnix(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("not on Windows")
	}
}

func TestRulingT4EditedSince(t *testing.T) {
	dir := func(root string) string { return filepath.Join(root, ".gauntlet") }
	tests := []struct {
		name    string
		edit    func(t *testing.T, root string)
		changed []string
	}{
		{"edited", func(t *testing.T, root string) { put(t, root, "config.yml", "hooks: {} # weaker\n") }, []string{"config.yml"}},
		{"new file", func(t *testing.T, root string) { put(t, root, "new", "") }, []string{"new (new)"}},
		{"new file with a strange name", func(t *testing.T, root string) {
			onUnix(t)
			put(t, root, "a \n\"b\"", "")
		}, []string{`"a \n\"b\"" (new)`}},
		{"deleted file", func(t *testing.T, root string) { check(t, os.Remove(filepath.Join(dir(root), "scripts/check.sh"))) }, []string{"scripts/check.sh (missing)"}},
		{"deleted .gauntlet", func(t *testing.T, root string) { check(t, os.RemoveAll(dir(root))) }, []string{"config.yml (missing)", "scripts/check.sh (missing)"}},
		{".gauntlet is a file now", func(t *testing.T, root string) {
			check(t, os.RemoveAll(dir(root)))
			check(t, os.WriteFile(dir(root), nil, 0o600))
		}, nil},
		{".gauntlet is a link to nowhere", func(t *testing.T, root string) {
			check(t, os.RemoveAll(dir(root)))
			environtest.Symlink(t, "nowhere", dir(root))
		}, nil},
		{".gauntlet is a link to itself", func(t *testing.T, root string) {
			check(t, os.RemoveAll(dir(root)))
			environtest.Symlink(t, ".gauntlet", dir(root))
		}, nil},
		{"exec bit set", func(t *testing.T, root string) {
			onUnix(t)
			check(t, os.Chmod(filepath.Join(dir(root), "scripts/check.sh"), 0o755))
		}, []string{"scripts/check.sh"}},
		{"moved", func(t *testing.T, root string) {
			check(t, os.Rename(filepath.Join(dir(root), "scripts/check.sh"), filepath.Join(dir(root), "check.sh")))
		}, []string{"check.sh (new)", "scripts/check.sh (missing)"}},
		{"content swapped", func(t *testing.T, root string) {
			put(t, root, "config.yml", "exit 1\n")
			put(t, root, "scripts/check.sh", "hooks: {}\n")
		}, []string{"config.yml", "scripts/check.sh"}},
		{"a link to a directory", func(t *testing.T, root string) { environtest.Symlink(t, "/", filepath.Join(dir(root), "z")) }, nil},
		{"a link to nowhere", func(t *testing.T, root string) { environtest.Symlink(t, "nowhere", filepath.Join(dir(root), "z")) }, nil},
		{"a link to a device", func(t *testing.T, root string) { environtest.Symlink(t, "/dev/zero", filepath.Join(dir(root), "z")) }, nil},
		{"too many files", func(t *testing.T, root string) {
			for i := range maxFiles {
				put(t, root, fmt.Sprint(i), "")
			}
		}, nil},
		{"too large", func(t *testing.T, root string) {
			put(t, root, "large", "")
			check(t, os.Truncate(filepath.Join(dir(root), "large"), 1<<40)) // sparse
		}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, root := approved(t)
			tt.edit(t, root)
			st := standing(t, s, root)
			if st.State != Edited || len(st.Changed) == 0 {
				t.Fatalf("got %+v, want edited, and what was", st)
			}
			if tt.changed != nil && !slices.Equal(st.Changed, tt.changed) {
				t.Errorf("changed: %q, want %q", st.Changed, tt.changed)
			}
			wantCopy(t, st)
			if !s.Claims(root) {
				t.Error("no longer claimed: the gates would be gone")
			}
		})
	}
}

func TestUnapprovableContent(t *testing.T) {
	tests := map[string]func(t *testing.T, root string){
		"too many files": func(t *testing.T, root string) {
			for i := range maxFiles {
				put(t, root, fmt.Sprint(i), "")
			}
		},
		"too large in all": func(t *testing.T, root string) {
			put(t, root, "a", strings.Repeat("x", maxBytes/2))
			put(t, root, "b", strings.Repeat("x", maxBytes/2))
		},
		"link to a directory": func(t *testing.T, root string) {
			environtest.Symlink(t, "/", filepath.Join(root, ".gauntlet", "z"))
		},
	}
	for name, add := range tests {
		t.Run(name, func(t *testing.T) {
			s, root := approved(t)
			add(t, root)
			if err := s.Approve(root, noon); err == nil {
				t.Error("approved; want an error")
			}
			wantCopy(t, standing(t, s, root))
		})
	}
}

func TestBackAsItWasIsApprovedAgain(t *testing.T) {
	s, root := approved(t)
	put(t, root, "config.yml", "other")
	put(t, root, "config.yml", "hooks: {}\n")
	if st := standing(t, s, root); st.State != Approved {
		t.Errorf("got %+v", st)
	}
}

// What a link leads to is what would run, so that is what is approved.
func TestLinkToAFile(t *testing.T) {
	s, root := project(t)
	outside := filepath.Join(t.TempDir(), "shared.sh")
	check(t, os.WriteFile(outside, []byte("exit 1\n"), 0o755))
	link := filepath.Join(root, ".gauntlet", "link.sh")
	environtest.Symlink(t, outside, link)
	check(t, s.Approve(root, noon))
	st := standing(t, s, root)
	if st.State != Approved {
		t.Fatalf("got %+v", st)
	}
	info, err := os.Lstat(filepath.Join(st.Dir, "link.sh"))
	check(t, err)
	if !info.Mode().IsRegular() || info.Mode().Perm() != 0o700 {
		t.Errorf("the copy of the link has mode %v, want a file of its own that can be executed", info.Mode())
	}
	check(t, os.WriteFile(outside, []byte("exit 0\n"), 0o755))
	if st := standing(t, s, root); st.State != Edited || !slices.Equal(st.Changed, []string{"link.sh"}) {
		t.Errorf("after the target was edited: %+v", st)
	}
}

func TestOneProjectReachedByTwoPaths(t *testing.T) {
	s, root := approved(t)
	link := filepath.Join(t.TempDir(), "link")
	environtest.Symlink(t, root, link)
	if st := standing(t, s, link); st.State != Approved || !s.Claims(link) {
		t.Errorf("through the link: %+v", st)
	}
	put(t, root, "config.yml", "other")
	check(t, s.Approve(link, noon))
	if st := standing(t, s, root); st.State != Approved {
		t.Errorf("approved through the link: %+v", st)
	}
	if ProjectKey(link) != ProjectKey(root) || ProjectKey(root) == ProjectKey(t.TempDir()) {
		t.Error("keys do not tell projects apart")
	}
}

func TestProjectsAreApart(t *testing.T) {
	s, root := approved(t)
	_, other := project(t)
	if st := standing(t, s, other); st.State != Untrusted {
		t.Errorf("got %+v: equal content elsewhere is not approved", st)
	}
	check(t, s.Revoke(other))
	wantCopy(t, standing(t, s, root))
}

// Whatever becomes of a copy, it is made again.
func TestE6ADamagedCopyIsMadeAgain(t *testing.T) {
	damages := map[string]func(t *testing.T, dir string){
		"edited":  func(t *testing.T, dir string) { check(t, os.WriteFile(filepath.Join(dir, "config.yml"), nil, 0o600)) },
		"gone":    func(t *testing.T, dir string) { check(t, os.RemoveAll(dir)) },
		"larger":  func(t *testing.T, dir string) { check(t, os.WriteFile(filepath.Join(dir, "more"), nil, 0o600)) },
		"smaller": func(t *testing.T, dir string) { check(t, os.Remove(filepath.Join(dir, "config.yml"))) },
	}
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			s, root := approved(t)
			before := standing(t, s, root)
			damage(t, before.Dir)
			st := standing(t, s, root)
			if st.State != Approved || !soundCopy(st) {
				t.Errorf("got %+v, want it approved with a sound copy", st)
			}
			wantCopy(t, st)
		})
	}
}

// busy makes another process hold the lock, as one that hangs does.
func busy(t *testing.T, s *Store) (release func()) {
	t.Helper()
	release, err := lockfile.Acquire(t.Context(), filepath.Join(s.dir, "lock"), 0)
	check(t, err)
	s.patience = 10 * time.Millisecond
	return release
}

func TestAsManyFilesAsThereMayBe(t *testing.T) {
	dir := t.TempDir()
	for i := range maxFiles {
		check(t, os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), nil, 0o600))
	}
	if files, err := readTree(dir); err != nil || len(files) != maxFiles {
		t.Errorf("%d files, %v", len(files), err)
	}
}

// Nothing is changed while another process changes approvals.
func TestChangesWaitForTheLock(t *testing.T) {
	s, root := approved(t)
	release := busy(t, &s)
	defer release()
	for name, change := range map[string]func() error{
		"approve": func() error { return s.Approve(root, noon) },
		"revoke":  func() error { return s.Revoke(root) },
		"restore": func() error { _, err := s.Restore(root); return err },
	} {
		if err := change(); !errors.Is(err, lockfile.ErrBusy) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if st := standing(t, s, root); st.State != Approved {
		t.Errorf("it is %s", st.State)
	}
}

// A `stopgate trust` that hangs and a damaged copy together hang no hook and free no agent.
func TestE6ADamagedCopyWhileTheLockIsHeld(t *testing.T) {
	s, root := approved(t)
	check(t, os.WriteFile(filepath.Join(standing(t, s, root).Dir, "config.yml"), nil, 0o600))
	release := busy(t, &s)
	if err := s.Approve(root, noon); !errors.Is(err, lockfile.ErrBusy) {
		t.Errorf("approved without the lock: %v", err)
	}
	first := standing(t, s, root)
	if first.State != Approved || !soundCopy(first) {
		t.Errorf("got %+v, want it approved with a sound copy", first)
	}
	wantCopy(t, first)
	if again := standing(t, s, root); again.Dir != first.Dir {
		t.Errorf("another copy is made for each call: %s, %s", first.Dir, again.Dir)
	}
	check(t, os.WriteFile(filepath.Join(first.Dir, "config.yml"), nil, 0o600))
	wantCopy(t, standing(t, s, root))

	release()
	check(t, s.Approve(root, noon))
	entries, err := os.ReadDir(s.folder(keys(root)[0]))
	check(t, err)
	if len(entries) != 3 {
		t.Errorf("%v is left, want two files and one copy", entries)
	}
}

func TestDamagedApproval(t *testing.T) {
	for _, text := range []string{"", "{", "null", "[]", `{"v":1}`, `{"v":3,"hash":"00"}`, `{"v":1,"hash":"../../../../etc"}`, "\x00"} {
		s, root := approved(t)
		for _, name := range []string{approvalFile, spareFile} {
			if st := standing(t, s, root); st.State != Approved {
				t.Errorf("%q: got %+v with a spare", text, st)
			}
			check(t, os.WriteFile(filepath.Join(s.folder(keys(root)[0]), name), []byte(text), 0o600))
		}
		if st, err := s.Standing(root); err == nil || !strings.Contains(err.Error(), "stopgate trust") {
			t.Errorf("%q: got %+v, %v; want an error that says what to do", text, st, err)
		}
		if !s.Claims(root) {
			t.Errorf("%q: no longer claimed", text)
		}
		check(t, s.Approve(root, noon))
		wantCopy(t, standing(t, s, root))
	}
}

func TestStoreThatCannotBeRead(t *testing.T) {
	onUnix(t) // Windows finds nothing below a file, as below a directory that is not there
	file := filepath.Join(t.TempDir(), "file")
	check(t, os.WriteFile(file, nil, 0o600))
	_, root := project(t)
	if st, err := NewStore(file).Standing(root); err == nil {
		t.Errorf("got %+v, want an error", st)
	}
	if err := NewStore(file).Approve(root, noon); err == nil {
		t.Error("approved without a place to keep it")
	}
}

func TestApproveAgain(t *testing.T) {
	s, root := approved(t)
	first := standing(t, s, root).Dir
	info, err := os.Stat(first)
	check(t, err)
	check(t, s.Approve(root, noon.Add(time.Hour)))
	again, err := os.Stat(standing(t, s, root).Dir)
	check(t, err)
	if !os.SameFile(info, again) {
		t.Error("an equal copy was replaced under the feet of whoever reads it")
	}
	put(t, root, "config.yml", "other")
	check(t, s.Approve(root, noon))
	if _, err := os.Stat(first); err != nil {
		t.Error("the copy before is gone, from which a hook may be running")
	}
	put(t, root, "config.yml", "and another")
	check(t, s.Approve(root, noon))
	if _, err := os.Stat(first); err == nil {
		t.Error("the oldest copy is still there")
	}
	if st := standing(t, s, root); st.State != Approved {
		t.Errorf("got %+v", st)
	}
}

func TestRevoke(t *testing.T) {
	s, root := approved(t)
	check(t, s.Revoke(root))
	check(t, s.Revoke(root)) // again: nothing to do
	if st := standing(t, s, root); st.State != Untrusted || s.Claims(root) {
		t.Errorf("got %+v, want untrusted", st)
	}
}

func TestApprovingNothingTakesTheApprovalBack(t *testing.T) {
	s, root := approved(t)
	check(t, os.RemoveAll(filepath.Join(root, ".gauntlet")))
	check(t, s.Approve(root, noon))
	if s.Claims(root) {
		t.Error("still approved")
	}
}

func TestModes(t *testing.T) {
	onUnix(t)
	s, _ := approved(t)
	check(t, filepath.WalkDir(s.dir, func(path string, entry os.DirEntry, err error) error {
		check(t, err)
		info, err := entry.Info()
		check(t, err)
		want := os.FileMode(0o600)
		if entry.IsDir() {
			want = 0o700
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %o, want %o", path, info.Mode().Perm(), want)
		}
		return nil
	}))
}

// Whoever approves last, what is approved is whole.
func TestApprovesAtOnce(t *testing.T) {
	s, root := approved(t)
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for j := range 5 {
				put(t, root, "config.yml", fmt.Sprint(i, j))
				if err := s.Approve(root, noon); err != nil {
					t.Errorf("approve: %v", err)
				}
			}
		})
	}
	group.Wait()
	if st := standing(t, s, root); st.Dir == "" {
		t.Errorf("got %+v", st)
	}
}

func TestHookDuringAnApproval(t *testing.T) {
	s, root := approved(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 40 {
			put(t, root, "config.yml", fmt.Sprint(i))
			if err := s.Approve(root, noon); err != nil {
				t.Errorf("approve: %v", err)
			}
		}
	}()
	t.Cleanup(func() { <-done })
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		if st := standing(t, s, root); st.State == Untrusted {
			t.Fatalf("got %+v", st)
		}
	}
}

func TestKilledBetween(t *testing.T) {
	s, root := approved(t)
	for round := range 20 {
		processtest.Kill(t, round, 20*time.Millisecond, "approve", filepath.Dir(s.dir), root)
		if st := standing(t, s, root); st.State == Untrusted {
			t.Fatalf("round %d: %+v", round, st)
		}
	}
	check(t, s.Approve(root, noon))
	check(t, s.Approve(root, noon)) // equal: the copy before is this one
	left, err := os.ReadDir(s.folder(keys(root)[0]))
	check(t, err)
	if len(left) != 3 { // the approval, its spare and its copy
		t.Errorf("left behind: %v", left)
	}
}

// Two trees have the same hash only if names, contents and exec bits are the
// same.
func TestHashTellsTreesApart(t *testing.T) {
	files := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) file {
		return file{
			Path: rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"a", "a b", "a\nb", "\xff", "\xfe"})).Draw(t, "path"),
			Hash: rapid.SampledFrom([]string{"00", "01", "0"}).Draw(t, "hash"),
			Exec: rapid.Bool().Draw(t, "exec"),
		}
	}), 0, 4, func(f file) string { return f.Path })
	equal := func(a, b file) bool { return a.Path == b.Path && a.Hash == b.Hash && a.Exec == b.Exec }
	rapid.Check(t, func(t *rapid.T) {
		a, b := files.Draw(t, "a"), files.Draw(t, "b")
		same := slices.EqualFunc(a, b, equal)
		if (hashTree(a) == hashTree(b)) != same {
			t.Fatalf("equal hashes: %t, equal trees: %t", !same, same)
		}
		if same && len(changes(a, b)) > 0 {
			t.Fatalf("changes between equal trees: %q", changes(a, b))
		}
	})
}

func TestSummary(t *testing.T) {
	if got := Summary([]string{"a", "b"}); got != "a, b" {
		t.Error(got)
	}
	all := []string{"1", "2", "3", "4", "5", "6", "7"}
	if got := Summary(all); got != "1, 2, 3, 4, 5, …" || all[5] != "6" {
		t.Error(got, all)
	}
}

// What was shown is what is approved, whatever was written meanwhile.
func TestApproveSnapshot(t *testing.T) {
	store, root := NewStore(t.TempDir()), t.TempDir()
	path := paths.ProjectConfig(root)
	check(t, os.Mkdir(filepath.Dir(path), 0o755))
	os.WriteFile(path, []byte("seen"), 0o600)
	snapshot, err := store.Take(root)
	check(t, err)
	os.WriteFile(path, []byte("unseen"), 0o600)
	copied := t.TempDir()
	check(t, snapshot.Copy(copied))
	if data, _ := os.ReadFile(filepath.Join(copied, paths.ConfigFile)); string(data) != "seen" || !snapshot.Has(paths.ConfigFile) || snapshot.Has("x") {
		t.Errorf("snapshot has %q", data)
	}
	check(t, store.ApproveSnapshot(snapshot, time.Now()))
	standing, err := store.Standing(root)
	if err != nil || standing.State != Edited {
		t.Errorf("standing %+v, %v", standing, err)
	}
	if data, _ := os.ReadFile(filepath.Join(standing.Dir, paths.ConfigFile)); string(data) != "seen" {
		t.Errorf("approved %q", data)
	}
}
