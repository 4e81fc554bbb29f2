package workload

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

var check = checktest.OK

func TestMain(m *testing.M) {
	environtest.Clean()
	os.Exit(m.Run())
}

const operations = 12

// written is a state directory after some operations on one of the parts.
func written(t *testing.T, part int) string {
	t.Helper()
	state := t.TempDir()
	p := Parts(state)[part]
	for n := 1; n <= operations; n++ {
		check(t, p.Do(n))
	}
	if s, ok := p.(*events); ok {
		check(t, s.open.Close())
	}
	return state
}

// What was done is found, and what was not is missed: a check that finds nothing wrong must be able
// to.
func TestIssue20ChecksFindWhatIsLost(t *testing.T) {
	for i, p := range Parts("") {
		t.Run(p.Name(), func(t *testing.T) {
			for _, test := range []struct {
				acked int
				want  error
			}{
				{operations, nil},
				{operations - 1, nil}, // the last one had begun
				{operations + 1, ErrLost},
				{operations - 2, ErrNotWritten},
			} {
				if p.Name() == "presence" && errors.Is(test.want, ErrLost) {
					test.want = nil // it promises nothing
				}
				part := Parts(written(t, i))[i]
				seen, err := part.Check(test.acked)
				if !errors.Is(err, test.want) || err != nil && test.want == nil {
					t.Errorf("acknowledged %d of %d: %v, want %v", test.acked, operations, err, test.want)
				}
				if test.want == nil && seen.Last != operations {
					t.Errorf("operation %d is the last that was found, want %d", seen.Last, operations)
				}
			}
		})
	}
}

func TestNothingIsFoundBeforeAnythingWasDone(t *testing.T) {
	for _, p := range Parts(t.TempDir()) {
		if seen, err := p.Check(0); err != nil || seen != (Seen{}) {
			t.Errorf("%s: %+v, %v", p.Name(), seen, err)
		}
		if _, err := p.Check(1); p.Name() != "presence" && !errors.Is(err, ErrLost) {
			t.Errorf("%s: %v, want %v", p.Name(), err, ErrLost)
		}
	}
}

// Files that are emptied, as by a write that never came, are never sound.
func TestIssue20ChecksFindFilesWithoutContent(t *testing.T) {
	for i, p := range Parts("") {
		state := written(t, i)
		check(t, filepath.WalkDir(state, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.Type().IsRegular() && !strings.HasSuffix(path, "lock") {
				err = os.Truncate(path, 0)
			}
			return err
		}))
		seen, err := Parts(state)[i].Check(operations)
		if err == nil && seen.Refused == 0 {
			t.Errorf("%s: its files are empty, and that is sound", p.Name())
		}
	}
}

// A line that is not whole may only come after everything that was synced.
func TestIssue20ATornLineBeforeASyncedOne(t *testing.T) {
	state := written(t, 0)
	segments, err := filepath.Glob(filepath.Join(state, "journal", "*.log"))
	check(t, err)
	text, err := os.ReadFile(segments[0])
	check(t, err)
	clear(text[10:20])
	check(t, os.WriteFile(segments[0], text, 0o600))
	if _, err := newJournal(state).Check(operations); !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrLost) {
		t.Errorf("error %v", err)
	}
}

func TestRun(t *testing.T) {
	var mu sync.Mutex
	acked := map[string]int{}
	report := func(a Ack) error {
		mu.Lock()
		defer mu.Unlock()
		if a.N != acked[a.Part]+1 {
			t.Errorf("operation %d of %s after %d", a.N, a.Part, acked[a.Part])
		}
		acked[a.Part] = a.N
		return nil
	}
	state := t.TempDir()
	parts := Parts(state)
	check(t, Run(parts, 1, 2, report))
	for _, p := range parts {
		if s, ok := p.(*events); ok {
			check(t, s.open.Close())
		}
		if seen, err := p.Check(acked[p.Name()]); err != nil || seen.Last != 4 {
			t.Errorf("%s: %+v, %v", p.Name(), seen, err)
		}
	}

	failure := errors.New("no disk")
	if err := Run(Parts(t.TempDir()), 1, 1, func(Ack) error { return failure }); !errors.Is(err, failure) {
		t.Errorf("error %v", err)
	}
}

func TestNamesAreWordsOfTheirOwn(t *testing.T) {
	var names []string
	for _, p := range Parts("") {
		names = append(names, p.Name())
	}
	slices.Sort(names)
	if len(slices.Compact(names)) != len(Parts("")) || strings.ContainsAny(strings.Join(names, ""), " \n") {
		t.Errorf("names %q", names)
	}
}

func TestAcks(t *testing.T) {
	want := Ack{"journal", 17}
	sector := want.Encode()
	if got, err := DecodeAck(sector); err != nil || got != want {
		t.Errorf("%v, %v", got, err)
	}
	sector[14]++
	if got, err := DecodeAck(sector); err == nil {
		t.Errorf("a damaged one is %v", got)
	}
}

func FuzzDecodeAck(f *testing.F) {
	f.Add(Ack{"store", 1}.Encode())
	f.Add([]byte("ack 00000000 x 1\n"))
	f.Fuzz(func(t *testing.T, sector []byte) {
		if ack, err := DecodeAck(sector); err == nil && string(ack.Encode()) != string(sector) {
			t.Errorf("%v has two spellings", ack)
		}
	})
}
