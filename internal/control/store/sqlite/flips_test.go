package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/sys/racetest"
	"github.com/stopgate/stopgate/internal/sys/seedtest"
)

// shapes are stores that have, together, every structure that SQLite makes for ours. Pages
// of 512 bytes give a small file trees of several levels.
var shapes = map[string]struct {
	page int
	fill func(t *testing.T, s *Store)
}{
	"one event a row": {4096, func(t *testing.T, s *Store) {
		appendTo(t, s, 15, "run.a", "run.b", "run.c")
	}},
	"several levels": {512, func(t *testing.T, s *Store) {
		for i := range 2 {
			appendTogether(t, s, fmt.Sprintf("run.%d", i), 4)
		}
		check(t, s.RecordHeads(t.Context()))
		appendSized(t, s, 10, 6, "run.a", "run.b", "run.c")
	}},
	"overflow pages": {512, func(t *testing.T, s *Store) {
		appendSized(t, s, 1100, 3, "run.a", "run.b")
		saveSnapshot(t, s, 2, 700)
		saveSnapshot(t, s, 3, 600)
	}},
	"trimmed": {512, func(t *testing.T, s *Store) {
		for i := range 2 {
			appendTogether(t, s, fmt.Sprintf("old.%d", i), 4)
			appendSized(t, s, 100, 8, "run.a", "run.b", "run.c")
			saveSnapshot(t, s, s.end()-2, 50)
		}
		check(t, trimBy(t.Context(), s, "test"))
		appendSized(t, s, 10, 1, "run.a")
	}},
}

// appendTogether appends the first event of n subjects, all in one transaction.
func appendTogether(t *testing.T, s *Store, prefix string, n int) {
	t.Helper()
	var events []store.NewEvent
	for i := range n {
		subject := fmt.Sprintf("%s.%d", prefix, i)
		events = append(events, store.NewEvent{Subject: subject, ID: strings.ReplaceAll(subject, ".", "-"), Data: []byte("x")})
	}
	check(t, errors.Join(together(t, s, events...)...))
}

// appendSized appends n events with so many bytes of data, by turns.
func appendSized(t *testing.T, s *Store, size, n int, subjects ...string) {
	t.Helper()
	appendEach(t, s, n, func(string) []byte { return bytes.Repeat([]byte("x"), size) }, subjects...)
}

func saveSnapshot(t *testing.T, s *Store, at store.Position, size int) {
	t.Helper()
	check(t, s.SaveSnapshot(t.Context(), store.Snapshot{Position: at, Data: bytes.Repeat([]byte("s"), size)}))
}

// One bit anywhere in the database or the file beside it: what is read is what was appended,
// and when the store says less than before or fails, Verify finds something. Flipped are some
// bits of each kind of region, always the same ones and some at random; with STOPGATE_FULL
// all of them, which takes 20 minutes: give it -timeout 60m.
func TestFlippedBits(t *testing.T) {
	racetest.Skip(t)
	random, covered := seedtest.New(t), map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(shapes)) {
		t.Run(name, func(t *testing.T) {
			s := newSpecimen(t, name)
			bits := s.someBits(random, covered)
			if os.Getenv("STOPGATE_FULL") != "" {
				bits = s.allBits()
				t.Parallel()
			}

			found := 0
			for _, bit := range bits {
				if s.try(t, bit) {
					found++
				}
			}
			t.Logf("%d bytes: %d flips, of which Verify found %d", len(s.database), len(bits), found)
		})
	}
}

// specimen is a store that was closed, and what it says when it is asked.
type specimen struct {
	path     string // where it is tried out
	database []byte
	side     []byte
	regions  []region // the file beside comes behind the database
	subjects []string // also those of which a trim has left the last event, and none of the store's own
	ids      []string
	trimmed  store.Position
	truth    testimony
}

func newSpecimen(t *testing.T, shape string) *specimen {
	t.Helper()
	path := tempPath(t)
	setPageSize(t, path, shapes[shape].page)
	s := mustOpen(t, path)
	shapes[shape].fill(t, s)
	made := &specimen{path: filepath.Join(memoryDir(t), "stopgate.db"), trimmed: s.gone()}
	for _, e := range all(t, s) {
		made.ids = append(made.ids, e.ID)
	}
	check(t, s.Close())

	made.regions = used(t, path)
	made.subjects = recordedSubjects(t, path)
	var err error
	if made.database, err = os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	if made.side, err = os.ReadFile(sidePath(path)); err != nil {
		t.Fatal(err)
	}
	made.regions = append(made.regions, region{"file beside", len(made.database), len(made.side)})

	made.write(t, made.database, made.side)
	if report := verify(t, made.path); !report.Sound() {
		t.Fatalf("%v", report.Findings)
	}
	if made.truth = made.ask(t.Context()); len(made.truth.errs) > 0 {
		t.Fatal(made.truth.errs)
	}
	return made
}

func recordedSubjects(t *testing.T, path string) (subjects []string) {
	t.Helper()
	db := raw(t, path)
	defer db.Close()
	var list string
	check(t, db.QueryRow("SELECT group_concat(subject, ' ') FROM heads").Scan(&list))
	return slices.DeleteFunc(strings.Fields(list), store.Own) // opening may append to those
}

func setPageSize(t *testing.T, path string, size int) {
	t.Helper()
	check(t, os.WriteFile(path, nil, 0o600))
	db := raw(t, path)
	defer db.Close()
	if _, err := db.Exec(fmt.Sprintf("PRAGMA page_size = %d; VACUUM", size)); err != nil {
		t.Fatal(err)
	}
}

// memoryDir is a directory in which a sync costs nothing, where there is one: each trial
// syncs ten times.
func memoryDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "stopgate-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// someBits returns two bits of each kind of region that is not covered yet, which are always
// the same, and some of any kind at random. A trial takes 50 ms under the race detector.
func (s *specimen) someBits(random *rand.Rand, covered map[string]bool) (bits []int) {
	byKind := map[string][]region{}
	for _, r := range s.regions {
		if r.size > 0 {
			byKind[r.kind] = append(byKind[r.kind], r)
		}
	}

	kinds := slices.Sorted(maps.Keys(byKind))
	for _, kind := range kinds {
		if !covered[kind] {
			first, last := byKind[kind][0], byKind[kind][len(byKind[kind])-1]
			bits = append(bits, first.at*8, (last.at+last.size)*8-1)
		}
		covered[kind] = true
	}

	for range 8 {
		regions := byKind[kinds[random.IntN(len(kinds))]]
		r := regions[random.IntN(len(regions))]
		bits = append(bits, r.at*8+random.IntN(r.size*8))
	}
	return bits
}

func (s *specimen) allBits() (bits []int) {
	seen := make([]bool, len(s.database)+len(s.side))
	for _, r := range s.regions {
		for at := r.at; at < r.at+r.size; at++ {
			for bit := at * 8; bit < at*8+8 && !seen[at]; bit++ {
				bits = append(bits, bit)
			}
			seen[at] = true
		}
	}
	return bits
}

// try flips one bit, and reports whether Verify found something.
func (s *specimen) try(t *testing.T, bit int) bool {
	t.Helper()
	files := slices.Concat(s.database, s.side)
	files[bit/8] ^= 1 << (bit % 8)
	s.write(t, files[:len(s.database)], files[len(s.database):])

	// It takes milliseconds; on a busy machine a process may not run for half a minute.
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	report, err := Verify(ctx, s.path)
	found := err != nil || !report.Sound()
	got := s.ask(ctx)
	if ctx.Err() != nil {
		t.Fatalf("%s: it does not end", s.describe(bit))
	}

	for _, wrong := range s.wrong(got) {
		t.Errorf("%s: %s", s.describe(bit), wrong)
	}
	if less := s.less(got); len(less) > 0 && !found {
		t.Errorf("%s: Verify finds nothing, and %q", s.describe(bit), less)
	}
	return found
}

func (s *specimen) write(t *testing.T, database, side []byte) {
	t.Helper()
	for _, suffix := range []string{"-wal", "-shm"} {
		_ = os.Remove(s.path + suffix)
	}
	check(t, errors.Join(os.WriteFile(s.path, database, 0o600), os.WriteFile(sidePath(s.path), side, 0o600)))
}

func (s *specimen) describe(bit int) string {
	kind := ""
	for _, r := range s.regions {
		if r.at <= bit/8 && bit/8 < r.at+r.size {
			kind = r.kind // the last is the most exact
		}
	}
	return fmt.Sprintf("bit %d of byte %d (%s)", bit%8, bit/8, kind)
}

// testimony is what a store says when it is asked everything.
type testimony struct {
	answers map[string]any
	errs    map[string]error
}

func (s *specimen) ask(ctx context.Context) testimony {
	says := testimony{map[string]any{}, map[string]error{}}
	opened, err := Open(ctx, s.path)
	if err != nil {
		says.errs["open"] = err
		return says
	}
	defer opened.Close()

	says.read("all events", opened.ReadAll(ctx, s.trimmed))
	for _, subject := range s.subjects {
		head, err := opened.Head(ctx, subject)
		says.hear("head of "+subject, head, err)
		says.read("events of "+subject, opened.Read(ctx, subject, s.trimmed))
	}
	snapshot, err := opened.LoadSnapshot(ctx)
	says.hear("snapshot", snapshot, err)

	for _, id := range s.ids {
		_, err := opened.Append(ctx, store.NewEvent{Subject: "another." + id, ID: id})
		says.hear("known id "+id, errors.Is(err, store.ErrDuplicate), nil)
	}
	_, err = opened.Append(ctx, store.NewEvent{Subject: "another", ID: "new"})
	says.hear("new id", nil, err)
	says.hear("trimmed", opened.gone(), nil)
	return says
}

func (says testimony) hear(question string, answer any, err error) {
	says.answers[question] = answer
	if err != nil {
		says.errs[question] = err
	}
}

func (says testimony) read(question string, events iter.Seq2[store.Event, error]) {
	var got []store.Event
	for e, err := range events {
		if err != nil {
			says.errs[question] = err
			break
		}
		got = append(got, e)
	}
	says.answers[question] = got
}

// wrong returns what the contract never allows: an event that was not appended, and one that
// was passed over without an error.
func (s *specimen) wrong(got testimony) (wrong []string) {
	for question, answer := range got.answers {
		events, isList := answer.([]store.Event)
		if !isList {
			continue
		}
		want := s.truth.answers[question].([]store.Event)
		if len(events) > len(want) || !slices.EqualFunc(events, want[:len(events)], func(a, b store.Event) bool { return reflect.DeepEqual(a, b) }) {
			wrong = append(wrong, question+": other events than were appended, or with gaps")
		} else if question == "all events" && len(events) < len(want) && got.errs[question] == nil {
			wrong = append(wrong, fmt.Sprintf("%s: %d of %d, without an error", question, len(events), len(want)))
		}
	}
	return wrong
}

// less returns what the store no longer says, or otherwise than before.
func (s *specimen) less(got testimony) (less []string) {
	for question, err := range got.errs {
		less = append(less, fmt.Sprintf("%s: %v", question, err))
	}
	for question, answer := range got.answers {
		if got.errs[question] == nil && !reflect.DeepEqual(answer, s.truth.answers[question]) {
			less = append(less, question+" has another answer")
		}
	}
	return less
}
