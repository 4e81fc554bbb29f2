package migrate

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/harness/settings"
	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/jsonfile"
)

var check = checktest.OK

// scene is a project with two files that a migration changes and one that it makes.
type scene struct {
	root, state string
	before      map[string]string
}

func newScene(t *testing.T) scene {
	t.Helper()
	dir := t.TempDir()
	s := scene{root: filepath.Join(dir, "a project\nwith a line end"), state: filepath.Join(dir, "state")}
	if filepath.Separator == '\\' {
		s.root = filepath.Join(dir, "a project")
	}
	t.Setenv("STOPGATE_STATE_DIR", s.state)
	check(t, os.MkdirAll(filepath.Join(s.root, ".claude"), 0o755))
	check(t, os.WriteFile(filepath.Join(s.root, ".claude", "settings.json"), []byte("{\"x\": 1}\r\n"), 0o640))
	check(t, os.Chmod(filepath.Join(s.root, ".claude", "settings.json"), 0o640)) // whatever the umask
	check(t, os.WriteFile(filepath.Join(s.root, "empty"), nil, 0o600))
	s.before = s.tree(t)
	return s
}

// changes are made anew each time, as a plan makes them.
func (s scene) changes() []Change {
	d := &Draft{Root: s.root, Getenv: os.Getenv}
	for _, f := range [][2]string{{".gauntlet/config.yml", "mode: observe\n"}, {".claude/settings.json", "{}\n"}, {"empty", "not any more\n"}} {
		if err := d.Write(d.InRoot(filepath.FromSlash(f[0])), []byte(f[1])); err != nil {
			panic(err)
		}
	}
	return d.Changes()
}

// tree is every file and folder of the project with mode and content.
func (s scene) tree(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	check(t, filepath.WalkDir(s.root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		text := ""
		if !entry.IsDir() {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text = string(content)
		}
		all[path] = info.Mode().String() + " " + text
		return nil
	}))
	return all
}

func (s scene) want(t *testing.T, want map[string]string) {
	t.Helper()
	if diff := cmp.Diff(want, s.tree(t)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestIssue19AMigrationIsUndoneToTheByte(t *testing.T) {
	s := newScene(t)
	store := NewStore(s.state)
	backups, err := store.Apply(s.root, []string{"conclaude"}, s.changes(), time.Now())
	check(t, err)
	if info, err := os.Stat(backups); err != nil || !info.IsDir() {
		t.Error(backups, err)
	}
	after := s.tree(t)
	if len(after) != len(s.before)+2 {
		t.Errorf("made: %v", after)
	}
	if got := after[filepath.Join(s.root, "empty")]; !strings.HasSuffix(got, "not any more\n") {
		t.Error(got)
	}

	check(t, os.Chmod(filepath.Join(s.root, ".claude", "settings.json"), 0o600))
	undone, err := store.Undo(s.root)
	check(t, err)
	want := Undone{
		Tools:    []string{"conclaude"},
		Restored: []string{filepath.Join(s.root, ".claude", "settings.json"), filepath.Join(s.root, "empty")},
		Merged:   []string{},
		Removed:  []string{filepath.Join(s.root, ".gauntlet", "config.yml")},
		Changed:  []Changed{},
	}
	if diff := cmp.Diff(want, undone); diff != "" {
		t.Error(diff)
	}
	s.want(t, s.before)
	if _, err := store.Undo(s.root); !errors.Is(err, NothingError{}) {
		t.Error(err)
	}
	if _, err := os.Stat(backups); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the copies are still there:", err)
	}
}

// The last one is undone first, and those of other projects stay.
func TestIssue19MigrationsAreUndoneInTurn(t *testing.T) {
	s := newScene(t)
	store := NewStore(s.state)
	apply := func(name, text string) {
		t.Helper()
		d := &Draft{Root: s.root, Getenv: os.Getenv}
		check(t, d.Write(d.InRoot(name), []byte(text)))
		_, err := store.Apply(s.root, []string{name}, d.Changes(), time.Now())
		check(t, err)
	}
	apply("empty", "one")
	first := s.tree(t)
	apply("empty", "two")
	other := filepath.Join(filepath.Dir(s.root), "other")
	if _, err := store.Undo(other); !errors.Is(err, NothingError{s.root}) {
		t.Error(err)
	}
	_, err := store.Undo(s.root)
	check(t, err)
	s.want(t, first)
	_, err = store.Undo(s.root)
	check(t, err)
	s.want(t, s.before)
}

// What a person has changed stays, and everything else is restored. Once the person has dealt with it, the
// rest can be undone.
func TestIssue19WhatAPersonChangedIsNotOverwritten(t *testing.T) {
	s := newScene(t)
	store := NewStore(s.state)
	backups, err := store.Apply(s.root, nil, s.changes(), time.Now())
	check(t, err)
	mine, empty := filepath.Join(s.root, ".gauntlet", "config.yml"), filepath.Join(s.root, "empty")
	check(t, os.WriteFile(mine, []byte("mine\n"), 0o644))
	check(t, os.WriteFile(empty, []byte("mine too\n"), 0o600))
	edited := s.tree(t)

	undone, err := store.Undo(s.root)
	changed, ok := errors.AsType[ChangedError](err)
	want := []Changed{{mine, ""}, {empty, filepath.Join(backups, "3-empty")}}
	if !ok || !slices.Equal(changed.Files, want) || !slices.Equal(undone.Changed, want) {
		t.Errorf("got %v, %v", undone, err)
	}
	if text, err := os.ReadFile(want[1].Copy); err != nil || len(text) > 0 {
		t.Errorf("the copy: %q %v", text, err)
	}
	restored := filepath.Join(s.root, ".claude", "settings.json")
	edited[restored] = s.before[restored]
	s.want(t, edited)
	if !slices.Equal(undone.Restored, []string{restored}) {
		t.Error(undone)
	}

	check(t, os.WriteFile(mine, []byte("mode: observe\n"), 0o644))
	undone, err = store.Undo(s.root)
	if !errors.As(err, &changed) || len(changed.Files) != 1 || len(undone.Restored) > 0 || !slices.Equal(undone.Removed, []string{mine}) {
		t.Errorf("got %v, %v", undone, err) // what was restored before is the person's again
	}
	check(t, os.WriteFile(empty, nil, 0o600))
	_, err = store.Undo(s.root)
	check(t, err)
	s.want(t, s.before)
	if _, err := store.Undo(s.root); !errors.Is(err, NothingError{}) {
		t.Error(err)
	}
}

// Claude Code adds a permission to the settings. Only the migration's change of them is taken back.
func TestIssue19SettingsKeepWhatWasChangedSince(t *testing.T) {
	s := newScene(t)
	store := NewStore(s.state)
	path := filepath.Join(s.root, ".claude", "settings.json")
	const before = "{\n  \"model\": \"opus\",\n  \"hooks\": {\"Stop\": [{\"hooks\": [ {\"type\": \"command\", \"command\": \"conclaude Stop\"} ]}]}\n}\n"
	check(t, os.WriteFile(path, []byte(before), 0o640))
	d := &Draft{Root: s.root, Getenv: os.Getenv}
	check(t, (&Plan{}).RemoveHooks(d, conclaude, settings.Project))
	_, err := store.Apply(s.root, nil, d.Changes(), time.Now())
	check(t, err)
	after, err := os.ReadFile(path)
	check(t, err)
	check(t, os.WriteFile(path, bytes.Replace(after, []byte(`"opus"`), []byte("\"opus\",\n  \"permissions\": {\"allow\": [\"Bash(ls)\"]}"), 1), 0o640))

	undone, err := store.Undo(s.root)
	check(t, err)
	if !slices.Equal(undone.Merged, []string{path}) {
		t.Error(undone)
	}
	text, err := os.ReadFile(path)
	check(t, err)
	const want = "{\n  \"model\": \"opus\",\n  \"permissions\": {\"allow\": [\"Bash(ls)\"]},\n  \"hooks\": {\"Stop\": [{\"hooks\": [ {\"type\": \"command\", \"command\": \"conclaude Stop\"} ]}]}\n}\n"
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Error(diff)
	}
}

// What a person has changed stays also where that is not JSON by its name, or is gone.
func TestIssue19OnlySettingsAreMerged(t *testing.T) {
	s := newScene(t)
	store := NewStore(s.state)
	d := &Draft{Root: s.root, Getenv: os.Getenv}
	other, gone := filepath.Join(s.root, "other.yml"), filepath.Join(s.root, ".claude", "settings.json")
	check(t, os.WriteFile(other, []byte(`{"h": 1, "x": 0}`), 0o600))
	check(t, d.Write(other, []byte(`{"x": 0}`)))
	check(t, d.Write(gone, []byte("{}\n")))
	_, err := store.Apply(s.root, nil, d.Changes(), time.Now())
	check(t, err)
	check(t, os.WriteFile(other, []byte(`{"x": 1}`), 0o600))
	check(t, os.Remove(gone))
	undone, err := store.Undo(s.root)
	if changed, ok := errors.AsType[ChangedError](err); !ok || len(changed.Files) != 2 || len(undone.Merged) > 0 {
		t.Errorf("got %v, %v", undone, err)
	}
}

// A migration that was killed, and undone but for what was changed since, is no longer in the way of the next one.
func TestIssue19WhatIsLeftDoesNotHoldTheNextMigration(t *testing.T) {
	s := newScene(t)
	store := NewStore(s.state)
	_, err := store.Apply(s.root, nil, s.changes(), time.Now())
	check(t, err)
	m, err := store.last(s.root)
	check(t, err)
	m.Done = false
	check(t, m.write())
	check(t, os.WriteFile(filepath.Join(s.root, "empty"), []byte("mine\n"), 0o600))
	if _, err := store.Undo(s.root); !errors.As(err, new(ChangedError)) {
		t.Fatal(err)
	}
	_, err = store.Apply(s.root, nil, s.changes(), time.Now())
	check(t, err)
}

// The copy of a file with the longest name has one, too.
func TestIssue19ALongNameHasACopy(t *testing.T) {
	s := newScene(t)
	d := &Draft{Root: s.root, Getenv: os.Getenv}
	path := filepath.Join(s.root, strings.Repeat("é", 124)+".json")
	check(t, os.WriteFile(path, []byte("{}"), 0o600))
	check(t, d.Write(path, []byte(`{"a": 1}`)))
	store := NewStore(s.state)
	_, err := store.Apply(s.root, nil, d.Changes(), time.Now())
	check(t, err)
	undone, err := store.Undo(s.root)
	check(t, err)
	if !slices.Equal(undone.Restored, []string{path}) {
		t.Error(undone)
	}
}

// A migration that fails names what it could not take back.
func TestIssue19WhatCannotBeTakenBackIsNamed(t *testing.T) {
	s := newScene(t)
	store := NewStore(s.state)
	made, settings := filepath.Join(s.root, ".gauntlet", "config.yml"), filepath.Join(s.root, ".claude", "settings.json")
	store.changed = sync.OnceFunc(func() {
		check(t, os.WriteFile(made, []byte("theirs\n"), 0o600))
		check(t, os.WriteFile(settings, []byte("theirs\n"), 0o600))
	})
	_, err := store.Apply(s.root, nil, s.changes(), time.Now())
	if err == nil || !strings.Contains(err.Error(), "not all changes could be taken back") || !strings.Contains(err.Error(), made+" has just been changed by another program") {
		t.Errorf("got %v", err)
	}
	if text, err := os.ReadFile(made); err != nil || string(text) != "theirs\n" {
		t.Errorf("%q %v", text, err)
	}
}

func TestIssue19OnlyAnExactChangeIsTakenBack(t *testing.T) {
	for _, test := range []struct{ before, after, now, want string }{
		{`{"a": 1, "h": [1]}`, `{"a": 1}`, `{"a": 2}`, `{"a": 2, "h": [1]}`},
		{`{"h": [1, 2]}`, `{"h": [1]}`, `{"h": [ 1 ], "x": 0}`, `{"h": [1, 2], "x": 0}`},
		{`{"a": 1}`, `{"a": 1, "s": {}}`, `{"a": 1, "s": {}, "b": 2}`, `{"a": 1, "b": 2}`},
		{`{"h": [1, 2]}`, `{"h": [1]}`, `{"h": [1, 2], "x": 0}`, `{"h": [1, 2], "x": 0}`}, // a killed undo did it
		{`{"h": [1, 2]}`, `{"h": [1]}`, `{"h": [3]}`, ""},
		{`{"h": [1, 2]}`, `{"h": [1]}`, `{}`, ""},
		{`{"h": [1]}`, `{}`, `{"h": [2]}`, ""},
		{`{"h": [1]}`, `{}`, `{"x": 1, "x": 2}`, ""},
		{`{"h": [1]}`, `{}`, `[]`, ""},
		{`{"h": [1]}`, `{}`, `{`, ""},
	} {
		got, ok := putBack([]byte(test.before), []byte(test.after), []byte(test.now))
		if string(got) != test.want || ok != (test.want != "") {
			t.Errorf("%s → %s, now %s: got %s", test.before, test.after, test.now, got)
		}
	}
}

// Another program changes a file after undo has looked for it and before undo has its lock.
func TestIssue19WhatChangesDuringAnUndoIsNotOverwritten(t *testing.T) {
	s := newScene(t)
	store := NewStore(s.state)
	_, err := store.Apply(s.root, nil, s.changes(), time.Now())
	check(t, err)
	m, err := store.last(s.root)
	check(t, err)
	before := s.tree(t)
	for _, k := range m.Files {
		check(t, jsonfile.WithLock(k.Path, func(f *jsonfile.File) error {
			f.Text = []byte("theirs")
			if got, err := m.restoreLocked(k, f); err != nil || got != stays {
				t.Errorf("%s: got %v %v", k.Path, got, err)
			}
			return nil
		}))
	}
	s.want(t, before)
}

// What a killed migration leaves goes with the next undo or migration; other programs' files stay.
func TestIssue19RemainsOfAKilledMigrationGo(t *testing.T) {
	s := newScene(t)
	store := NewStore(s.state)
	abandoned := filepath.Join(s.state, "migrations", "1")
	check(t, os.MkdirAll(abandoned, 0o700))
	check(t, os.WriteFile(filepath.Join(abandoned, "1-settings.json"), nil, 0o600))
	_, err := store.Apply(s.root, nil, s.changes(), time.Now())
	check(t, err)
	if entries, err := os.ReadDir(filepath.Join(s.state, "migrations")); err != nil || len(entries) != 2 {
		t.Error(entries, err) // one migration, and the lock
	}

	for name, text := range map[string]string{
		".gauntlet/.stopgate-1": "", ".gauntlet/.stopgate-2": "mode: ob", ".claude/.stopgate-3": "{}\n", ".stopgate-4": "not any more\n",
	} {
		check(t, os.WriteFile(filepath.Join(s.root, filepath.FromSlash(name)), []byte(text), 0o600))
	}
	for name, text := range map[string]string{".claude/.stopgate-5": "", ".stopgate-6": "theirs"} {
		path := filepath.Join(s.root, filepath.FromSlash(name))
		check(t, os.WriteFile(path, []byte(text), 0o600))
		s.before[path] = s.tree(t)[path]
	}
	check(t, os.MkdirAll(filepath.Join(s.state, "migrations", "7"), 0o700))
	_, err = store.Undo(s.root)
	check(t, err)
	s.want(t, s.before)
	if entries, err := os.ReadDir(filepath.Join(s.state, "migrations")); err != nil || len(entries) != 1 {
		t.Error(entries, err) // the lock
	}
}

// Between the plan and the change another program writes one of the files.
func TestIssue19AMigrationIsAllOrNothing(t *testing.T) {
	s := newScene(t)
	changes := s.changes()
	path := filepath.Join(s.root, "empty")
	check(t, os.WriteFile(path, []byte("theirs"), 0o600))
	s.before = s.tree(t)
	if _, err := NewStore(s.state).Apply(s.root, nil, changes, time.Now()); err == nil || !strings.Contains(err.Error(), "changed by another program") {
		t.Errorf("got %v", err)
	}
	s.want(t, s.before)
	if _, err := NewStore(s.state).Undo(s.root); !errors.Is(err, NothingError{}) {
		t.Error("something is left to undo:", err)
	}
}

// killed is the first argument of a process that ends in the middle of a migration or of its undo.
const killed = "killed"

// beKilled is that process: in the project at a root it ends after so many changes.
func beKilled(args []string) {
	root, undo := args[0], args[2] == "undo"
	left, _ := strconv.Atoi(args[1]) // kill wrote it
	store := NewStore(os.Getenv("STOPGATE_STATE_DIR"))
	store.changed = func() {
		if left--; left > 0 {
			return
		}
		self, _ := os.FindProcess(os.Getpid()) // it is there
		_ = self.Kill()
		select {} // until it is
	}
	var err error
	if undo {
		_, err = store.Undo(root)
	} else {
		_, err = store.Apply(root, nil, scene{root: root}.changes(), time.Now())
	}
	fmt.Println("was not killed:", err)
	os.Exit(0)
}

func kill(t *testing.T, s scene, after int, what string) {
	t.Helper()
	out, err := exec.Command(os.Args[0], killed, s.root, strconv.Itoa(after), what).CombinedOutput()
	if err == nil {
		t.Fatalf("%s", out)
	}
}

// Wherever a migration or its undo is killed, an undo leads back to the beginning.
func TestIssue19AKilledMigrationIsUndone(t *testing.T) {
	for after := 1; after <= 3; after++ {
		t.Run(strconv.Itoa(after), func(t *testing.T) {
			s := newScene(t)
			store := NewStore(s.state)
			kill(t, s, after, "apply")
			if _, err := store.Apply(s.root, nil, s.changes(), time.Now()); !errors.Is(err, UnfinishedError{s.root}) {
				t.Errorf("a second migration on top of half of one: %v", err)
			}
			kill(t, s, 4-after, "undo")
			_, err := store.Undo(s.root)
			check(t, err)
			s.want(t, s.before)
			_, err = store.Apply(s.root, nil, s.changes(), time.Now())
			check(t, err)
		})
	}
}

// A copy that the disk damaged is not put back.
func TestIssue19ADamagedBackupIsNotRestored(t *testing.T) {
	s := newScene(t)
	store := NewStore(s.state)
	backups, err := store.Apply(s.root, nil, s.changes(), time.Now())
	check(t, err)
	copies, err := filepath.Glob(filepath.Join(backups, "[0-9]*"))
	check(t, err)
	for _, path := range copies {
		check(t, os.WriteFile(path, []byte("damaged"), 0o600))
	}
	if _, err := store.Undo(s.root); err == nil || !strings.Contains(err.Error(), "is damaged") {
		t.Errorf("got %v", err)
	}
}

func TestIssue19LinksStayLinks(t *testing.T) {
	s := newScene(t)
	dotfiles := filepath.Join(filepath.Dir(s.root), "dotfiles.json")
	path := filepath.Join(s.root, ".claude", "settings.json")
	check(t, os.Rename(path, dotfiles))
	if err := os.Symlink(dotfiles, path); err != nil {
		t.Skip("no symbolic links here: ", err)
	}
	before, err := os.ReadFile(dotfiles)
	check(t, err)
	store := NewStore(s.state)
	_, err = store.Apply(s.root, nil, s.changes(), time.Now())
	check(t, err)
	if text, err := os.ReadFile(dotfiles); err != nil || string(text) != "{}\n" {
		t.Errorf("%q %v", text, err)
	}
	_, err = store.Undo(s.root)
	check(t, err)
	if text, err := os.ReadFile(dotfiles); err != nil || string(text) != string(before) {
		t.Errorf("%q %v", text, err)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Error("the link is gone:", err)
	}
}

// Two at once: one does it, the other finds the files changed and leaves them.
func TestIssue19TwoMigrationsAtOnce(t *testing.T) {
	s := newScene(t)
	changes := s.changes()
	failed := make(chan error, 2)
	for range 2 {
		go func() {
			_, err := NewStore(s.state).Apply(s.root, nil, changes, time.Now())
			failed <- err
		}()
	}
	if a, b := <-failed, <-failed; (a == nil) == (b == nil) {
		t.Errorf("got %v and %v", a, b)
	}
	_, err := NewStore(s.state).Undo(s.root)
	check(t, err)
	s.want(t, s.before)
}

func TestIssue19ANearerConfigurationOfConclaudeCounts(t *testing.T) {
	top := t.TempDir()
	deep := filepath.Join(top, "app", "src")
	check(t, os.MkdirAll(deep, 0o700))
	if got := RootBelow(top, deep); got != top {
		t.Error(got)
	}
	check(t, os.WriteFile(filepath.Join(top, "app", ".conclaude.yml"), nil, 0o600))
	if got := RootBelow(top, deep); got != filepath.Join(top, "app") {
		t.Error(got)
	}
	if got := Present(filepath.Join(top, "app")); !slices.Equal(got, []string{"conclaude"}) || len(Present(top)) > 0 {
		t.Error(got)
	}
}

// What another project's migration changed says nothing about this one.
func TestIssue19OnlyMigrationsOfTheProjectCount(t *testing.T) {
	s := newScene(t)
	store := NewStore(s.state)
	_, err := store.Apply(s.root, nil, s.changes(), time.Now())
	check(t, err)
	for root, want := range map[string]int{s.root: 3, filepath.Dir(s.root): 0} {
		if paths, err := store.Migrated(root); err != nil || len(paths) != want {
			t.Errorf("%q: %q %v", root, paths, err)
		}
	}
}
