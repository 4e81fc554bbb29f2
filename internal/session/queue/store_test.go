package queue

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/sys/lockfile"
	"github.com/stopgate/stopgate/internal/sys/racetest"
)

func newStore(t *testing.T) Store {
	t.Helper()
	return NewStore(t.TempDir())
}

func create(t testing.TB, s Store, session string, commands ...string) {
	t.Helper()
	check(t, s.Create(session, New(session, "q1", commands, noon)))
}

// change applies an event; nobody wants to be told.
func change(t testing.TB, s Store, session string, e Event) Transition {
	t.Helper()
	o, err := s.Change(session, applying(e), func(Transition, string) error { return nil })
	check(t, err)
	return o
}

func applying(e Event) func(Queue) Transition {
	return func(q Queue) Transition { return Apply(q, e, noon) }
}

// files are the names of what is in the store, apart from locks.
func files(t testing.TB, s Store) []string {
	t.Helper()
	entries, err := os.ReadDir(s.dir)
	check(t, err)
	var names []string
	for _, entry := range entries {
		if filepath.Ext(entry.Name()) != ".lock" {
			names = append(names, entry.Name())
		}
	}
	return names
}

func wantFiles(t testing.TB, s Store, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, files(t, s)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestTheSeedsPlace(t *testing.T) {
	if got := NewStore("state").Path("warden-main-4"); got != filepath.Join("state", "logs", "queues", "queue-warden-main-4.json") {
		t.Error(got)
	}
}

func TestRuling36AQueueThatExistsIsRefused(t *testing.T) {
	s := newStore(t)
	create(t, s, "s", "a")
	if err := s.Create("s", New("s", "q2", []string{"b"}, noon)); !errors.Is(err, ErrExists) {
		t.Fatalf("error %v", err)
	}
	q, err := s.Load("s")
	check(t, err)
	if q.Stopgate.ID != "q1" || !s.Exists("s") {
		t.Errorf("now it is %s", text(t, q))
	}
}

func TestWhatCouldNotBeReadIsNotCreated(t *testing.T) {
	racetest.Skip(t)
	s := newStore(t)
	twice := fresh("a", "b")
	twice.Commands[1].ID = 1
	for name, q := range map[string]Queue{
		"no commands": fresh(),
		"one id":      twice,
		"too large":   fresh(strings.Repeat("x", maxSize)),
	} {
		if err := s.Create("s", q); err == nil || s.Exists("s") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What the disk has stays when it cannot be changed.
func TestAResultThatIsTooLargeIsAnErrorAndLosesNothing(t *testing.T) {
	racetest.Skip(t)
	s := newStore(t)
	create(t, s, "s", "a", "b")
	for _, e := range sent(1, "p1", "a") {
		change(t, s, "s", e)
	}
	_, err := s.Change("s", applying(Stop{"p1", strings.Repeat("x", maxSize)}), nil)
	if err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("error %v", err)
	}
	if q, err := s.Load("s"); err != nil || q.Active().ID != 1 {
		t.Errorf("%v", err)
	}
}

func TestASessionWithoutAQueue(t *testing.T) {
	s := newStore(t)
	_, err := s.Change("s", func(Queue) Transition { panic("there is none") }, nil)
	_, loaded := s.Load("s")
	_, stale := load(s.path("s", "stale"))
	for _, err := range []error{err, loaded, stale} {
		if !errors.Is(err, ErrNone) {
			t.Errorf("error %v", err)
		}
	}
	if s.Exists("s") {
		t.Error("it exists")
	}
	if all, err := s.List(); len(all) != 0 || err != nil {
		t.Errorf("%v, %v", all, err)
	}
	if all, err := NewStore(filepath.Join(t.TempDir(), "not there")).List(); len(all) != 0 || err != nil {
		t.Errorf("%v, %v", all, err)
	}
}

func TestWhatChangesIsWritten(t *testing.T) {
	s := newStore(t)
	create(t, s, "s", "a", "b")
	before, err := os.ReadFile(s.Path("s"))
	check(t, err)
	change(t, s, "s", Pressed{1}) // not yet
	if now, _ := os.ReadFile(s.Path("s")); string(now) != string(before) {
		t.Errorf("an event that does nothing wrote\n%s", now)
	}
	o := change(t, s, "s", Begun{1})
	if q, err := s.Load("s"); err != nil || text(t, q) != text(t, o.Queue) {
		t.Errorf("%v: the file and the outcome differ", err)
	}
	if now, _ := os.ReadFile(s.Path("s")); !strings.HasPrefix(string(now), "{\n  \"commands\": [\n    {\n      \"id\": 1,\n") || !strings.HasSuffix(string(now), "}\n") {
		t.Errorf("not fit to read:\n%s", now)
	}
}

// People and agents read results: they are not to be full of \u003c.
func TestResultsAreReadable(t *testing.T) {
	s := newStore(t)
	create(t, s, "s", "a", "b")
	for _, e := range append(sent(1, "p1", "a"), Stop{"p1", "if a < b && c > d 🎉"}) {
		change(t, s, "s", e)
	}
	if now, _ := os.ReadFile(s.Path("s")); !strings.Contains(string(now), `"result": "if a < b && c > d 🎉"`) {
		t.Errorf("%s", now)
	}
}

func TestRuling32TheLastNameTellsHowItEnded(t *testing.T) {
	for _, test := range []struct {
		event Event
		kind  EndKind
		want  string
	}{
		{Stop{"p1", "m"}, Complete, "queue-s.done.json"},
		{Prompt{"p2", "x"}, Cancel, "queue-s.stale.json"},
		{SessionStart{"startup", "c2"}, Stale, "queue-s.stale.json"},
		{StopFailure{"p1", "x"}, Broken, "queue-s.stale.json"},
	} {
		s := newStore(t)
		create(t, s, "s", "a")
		for _, e := range sent(1, "p1", "a") {
			change(t, s, "s", e)
		}
		told := ""
		o, err := s.Change("s", applying(test.event), func(o Transition, path string) error {
			ending, _ := o.Ended()
			told = string(ending.Kind) + " " + path
			if !s.Exists("s") {
				t.Error("it was renamed before anybody was told")
			}
			return nil
		})
		check(t, err)
		if want := string(test.kind) + " " + filepath.Join(s.dir, test.want); told != want {
			t.Errorf("told %s, want %s", told, want)
		}
		wantFiles(t, s, test.want)
		q, err := load(filepath.Join(s.dir, test.want))
		if err != nil || text(t, q) != text(t, o.Queue) || s.Exists("s") {
			t.Errorf("%v: the file is not the queue's last state", err)
		}
		if stale, err := load(s.path("s", "stale")); test.kind != Complete && (err != nil || text(t, stale) != text(t, q)) {
			t.Errorf("the stale one: %v", err)
		}
	}
}

// Who cannot tell leaves the queue to the next one.
func TestAnErrorInTellingLeavesTheQueue(t *testing.T) {
	s := newStore(t)
	create(t, s, "s", "a", "b")
	full := errors.New("the outbox is full")
	_, err := s.Change("s", applying(SessionStart{"startup", "c2"}), func(Transition, string) error { return full })
	if !errors.Is(err, full) {
		t.Fatalf("error %v", err)
	}
	wantFiles(t, s, "queue-s.json")
	finish(t, s, "s", Ending{Kind: Stale})
	wantFiles(t, s, "queue-s.stale.json")
}

// finish is a hook that finds a queue whose end is written down.
func finish(t *testing.T, s Store, session string, want Ending) {
	t.Helper()
	told := 0
	o, err := s.Change(session, applying(Stop{"p9", "m"}), func(o Transition, path string) error {
		told++
		if path != s.path(session, want.Kind.suffix()) {
			t.Errorf("told of %s", path)
		}
		return nil
	})
	check(t, err)
	if ending, _ := o.Ended(); ending != want || told != 1 || o.Drive {
		t.Errorf("ended with %+v, told %d times; want %+v", ending, told, want)
	}
}

func TestAPanicReleasesTheLock(t *testing.T) {
	s := newStore(t)
	create(t, s, "s", "a", "b")
	func() {
		defer func() { _ = recover() }()
		_, _ = s.Change("s", applying(Withdrawn{"x"}), func(Transition, string) error { panic("a bug") })
	}()
	finish(t, s, "s", Ending{Kind: Cancel, Why: "x"})
}

// endQueue makes a queue with an id and ends it.
func endQueue(s Store, session, id string, e Event) error {
	if err := s.Create(session, New(session, id, []string{"a"}, noon)); err != nil {
		return err
	}
	_, err := s.Change(session, applying(e), func(Transition, string) error { return nil })
	return err
}

func TestEarlierQueuesAreKeptUnderNumbers(t *testing.T) {
	s := newStore(t)
	want := map[string]string{}
	for i := range 14 {
		check(t, endQueue(s, "s", strconv.Itoa(i), Withdrawn{"x"}))
		want = map[string]string{"queue-s.stale.json": strconv.Itoa(i)}
		for n := 1; n <= min(i, kept); n++ {
			want[fmt.Sprintf("queue-s.stale.%d.json", n)] = strconv.Itoa(i - n)
		}
		got := map[string]string{}
		for _, file := range files(t, s) {
			q, err := load(filepath.Join(s.dir, file))
			check(t, err)
			got[file] = q.Stopgate.ID
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("after queue %d (-want +got):\n%s", i, diff)
		}
	}
	create(t, s, "s", "a")
	for _, e := range append(sent(1, "p1", "a"), Stop{"p1", "m"}) {
		change(t, s, "s", e)
	}
	want["queue-s.done.json"] = ""
	if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), files(t, s)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Something that stands in the way of a number does not stop the session.
func TestADirectoryAmongTheOldQueues(t *testing.T) {
	s := newStore(t)
	for _, n := range []int{4, 9} {
		check(t, os.MkdirAll(filepath.Join(s.dir, fmt.Sprintf("queue-s.stale.%d.json", n), "full"), 0o700))
	}
	for i := range 25 {
		check(t, endQueue(s, "s", strconv.Itoa(i), Withdrawn{"x"}))
		for n, file := range []string{"queue-s.stale.json", "queue-s.stale.1.json", "queue-s.stale.2.json"} {
			if q, err := load(filepath.Join(s.dir, file)); n <= i && (err != nil || q.Stopgate.ID != strconv.Itoa(i-n)) {
				t.Fatalf("after queue %d, %s: %v", i, file, err)
			}
		}
	}
}

func TestADamagedFileIsSetAsideAndNamed(t *testing.T) {
	whole := text(t, fresh("a", "b"))
	damages := map[string]func(path string) error{
		"empty":          writing(""),
		"half":           writing(whole[:len(whole)/2]),
		"binary":         writing("\x00\x01\xff\xfe"),
		"two active":     writing(strings.Replace(whole, "pending", "active", 1)),
		"unknown status": writing(strings.Replace(whole, "pending", "finished", 1)),
		"directory":      func(path string) error { return os.MkdirAll(filepath.Join(path, "full"), 0o700) },
	}
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) { checkSetAside(t, damage) })
	}
}

// Size alone tells: 70 MB are not read.
func TestAHugeFileIsSetAsideUnread(t *testing.T) {
	huge := func(path string) error {
		return errors.Join(writing(seedQueue)(path), os.Truncate(path, 70<<20))
	}
	checkSetAside(t, huge)
	path := filepath.Join(t.TempDir(), "huge")
	check(t, huge(path))
	if _, err := load(path); err == nil || !strings.Contains(err.Error(), "more than 67108864 bytes") {
		t.Errorf("error %v", err)
	}
}

func writing(text string) func(path string) error {
	return func(path string) error { return os.WriteFile(path, []byte(text), 0o600) }
}

func checkSetAside(t *testing.T, damage func(path string) error) {
	s := newStore(t)
	create(t, s, "other", "a")
	for n := range 3 {
		check(t, damage(s.Path("s")))
		if _, err := s.Load("s"); err == nil || !s.Exists("s") {
			t.Fatalf("reading changes nothing: %v", err)
		}
		_, err := s.Change("s", func(Queue) Transition { panic("invalid queue file") }, nil)
		var corrupt *CorruptError
		if !errors.As(err, &corrupt) {
			t.Fatalf("round %d: error %v", n, err)
		}
		aside := filepath.Join(s.dir, "queue-s.corrupt.json")
		if corrupt.Path != aside || corrupt.Session != "s" || !strings.Contains(err.Error(), aside) || !strings.Contains(err.Error(), "invalid queue file") {
			t.Errorf("error %v", err)
		}
		if _, err := os.Lstat(aside); err != nil || s.Exists("s") {
			t.Errorf("not set aside: %v", err)
		}
		create(t, s, "s", "a")
		check(t, os.Remove(s.Path("s")))
	}
	wantFiles(t, s, "queue-other.json", "queue-s.corrupt.1.json", "queue-s.corrupt.2.json", "queue-s.corrupt.json")
}

func TestSessionsHaveQueuesOfTheirOwn(t *testing.T) {
	s := newStore(t)
	sessions := []string{
		"a", "a-", "a b", "a.b", "a.stale", "a.done", "a/b", "a%2Fb", "..", "../a", "a\nb", "party🎉", "%", "",
		strings.Repeat("x", 300), strings.Repeat("x", 300) + "y", "a.lock", "a.driver",
	}
	for _, session := range sessions {
		create(t, s, session, "command of "+session, "b")
	}
	for i, session := range sessions {
		if i%2 == 0 {
			change(t, s, session, Begun{1})
		} else {
			change(t, s, session, Withdrawn{"x"})
		}
	}
	for i, session := range sessions {
		q, err := s.Load(session)
		if i%2 != 0 {
			q, err = load(s.path(session, "stale"))
		} else if q.Active().Stopgate.State != Typing {
			t.Errorf("%q was not changed", session)
		}
		if err != nil || q.Commands[0].Command != "command of "+session {
			t.Errorf("%q: %v, %q", session, err, q.Commands[0].Command)
		}
	}
	if inside, _ := filepath.Glob(filepath.Join(filepath.Dir(s.dir), "*")); len(inside) != 1 {
		t.Errorf("files outside of the directory: %q", inside)
	}
	listed := listedSessions(t, s)
	slices.Sort(listed)
	var want []string
	for i, session := range sessions {
		if i%2 == 0 {
			want = append(want, session)
		}
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, listed); diff != "" {
		t.Errorf("listed (-want +got):\n%s", diff)
	}
}

func listedSessions(t *testing.T, s Store) []string {
	t.Helper()
	all, err := s.List()
	check(t, err)
	var names []string
	for _, l := range all {
		if l.Err != nil || l.Path != s.Path(l.Session) || len(l.Queue.Commands) == 0 {
			t.Errorf("%q at %s: %v", l.Session, l.Path, l.Err)
		}
		names = append(names, l.Session)
	}
	return names
}

func TestListAmongForeignFiles(t *testing.T) {
	s := newStore(t)
	create(t, s, "b", "a")
	create(t, s, "a", "a")
	check(t, endQueue(s, "c", "q", Withdrawn{"x"}))
	for _, file := range []string{"notes.txt", "queue-a.json.bak", "queue-a.json~", ".queue-a.json.swp", ".stopgate-123", "other.json"} {
		check(t, writing("x")(filepath.Join(s.dir, file)))
	}
	check(t, os.Mkdir(filepath.Join(s.dir, "queue-d"), 0o700))
	if diff := cmp.Diff([]string{"a", "b"}, listedSessions(t, s)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// By hand, as older scripts do; and one that cannot be read.
	check(t, writing(seedQueue)(s.Path("by/hand")))
	check(t, writing("{")(s.Path("damaged")))
	all, err := s.List()
	check(t, err)
	got := map[string]bool{}
	for _, l := range all {
		got[l.Session] = l.Err == nil
	}
	if diff := cmp.Diff(map[string]bool{"a": true, "b": true, "by/hand": true, "damaged": false}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// counting changes a queue so that every change can be counted.
func counting(q Queue) Transition {
	q = q.clone()
	q.Commands[0].Stopgate.Tries++
	return Transition{Queue: q, Changed: true}
}

// countOne counts, however long the others take: a machine may be slow.
func countOne(s Store, session string) error {
	for {
		if _, err := s.Change(session, counting, nil); !errors.Is(err, lockfile.ErrBusy) {
			return err
		}
	}
}

func TestRuling35ChangesByManyAtOnceAreNotLost(t *testing.T) {
	s := newStore(t)
	sessions := []string{"a", "b"}
	for _, session := range sessions {
		create(t, s, session, "x", "y")
	}
	const each, many = 10, 12
	var all sync.WaitGroup
	for _, session := range sessions {
		for range many {
			all.Go(func() {
				for range each {
					if err := countOne(s, session); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	all.Wait()
	for _, session := range sessions {
		if q, err := s.Load(session); err != nil || q.Commands[0].Stopgate.Tries != each*many {
			t.Errorf("%s: %v, %d of %d changes", session, err, q.Commands[0].Stopgate.Tries, each*many)
		}
	}
}

// Of many that create, or want to type, one may.
func TestOnlyOneIsFirst(t *testing.T) {
	s := newStore(t)
	first := func(try func(i int) bool) int {
		var all sync.WaitGroup
		won := make(chan int, 24)
		for i := range cap(won) {
			all.Go(func() {
				if try(i) {
					won <- i
				}
			})
		}
		all.Wait()
		return len(won)
	}
	if n := first(func(i int) bool { return s.Create("s", New("s", strconv.Itoa(i), []string{"a"}, noon)) == nil }); n != 1 {
		t.Errorf("%d created the queue", n)
	}
	begin := func(int) bool {
		o, err := s.Change("s", applying(Begun{1}), nil)
		return err == nil && o.Changed
	}
	if n := first(begin); n != 1 {
		t.Errorf("%d began to type", n)
	}
}

func TestSweepLeavesWhatIsInUse(t *testing.T) {
	s := NewStore(t.TempDir())
	check(t, os.MkdirAll(s.dir, 0o700))
	old := noon.Add(-31 * 24 * time.Hour)
	for name, modified := range map[string]time.Time{
		"queue-a.json": old, "queue-a.lock": old, "queue-a.driver.lock": old,
		"queue-a.done.json": old, "queue-a.stale.3.json": old, "queue-a.corrupt.json": old, ".stopgate-123": old,
		"queue-b.done.json": noon, "queue-b.stale.1.json": noon,
	} {
		path := filepath.Join(s.dir, name)
		check(t, os.WriteFile(path, nil, 0o600))
		check(t, os.Chtimes(path, modified, modified))
	}
	s.Sweep(noon)
	entries, err := os.ReadDir(s.dir)
	check(t, err)
	var left []string
	for _, entry := range entries {
		left = append(left, entry.Name())
	}
	want := []string{"queue-a.driver.lock", "queue-a.json", "queue-a.lock", "queue-b.done.json", "queue-b.stale.1.json"}
	if diff := cmp.Diff(want, left); diff != "" {
		t.Error(diff)
	}
}
