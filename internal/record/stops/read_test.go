package stops

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/record/journal"
	"github.com/stopgate/stopgate/internal/sys/checktest"
)

var check = checktest.OK

func tempJournal(t testing.TB, limits journal.Limits) (*journal.Journal, string) {
	dir := filepath.Join(t.TempDir(), "journal")
	return journal.New(dir, limits), dir
}

// write appends a call: its beginning, other events as noise, and its answer where it has one.
func write(t testing.TB, j *journal.Journal, call, session, project string, at int64, answers bool) {
	t.Helper()
	begin := event.Record{Call: call, Kind: event.Received, Event: "Stop", Session: session, Project: project, Time: time.Unix(at, 0).UTC()}
	noise := event.Record{Call: call + "x", Kind: event.Answered, Event: "PreToolUse", Session: session, Decision: "allow"}
	for _, r := range []event.Record{begin, noise} {
		_, err := j.Append(&r)
		check(t, err)
	}
	if answers {
		end := begin
		end.Kind, end.Decision = event.Answered, "allow"
		_, err := j.Append(&end)
		check(t, err)
	}
}

func ids(t testing.TB, r *Reader) (newest, oldest []string) {
	t.Helper()
	for s, err := range r.Newest() {
		check(t, err)
		newest = append(newest, s.ID+":"+string(s.Decision))
	}
	for s, err := range r.Oldest() {
		check(t, err)
		oldest = append(oldest, s.ID+":"+string(s.Decision))
	}
	return newest, oldest
}

func TestReaderFindsEachStopOnce(t *testing.T) {
	j, _ := tempJournal(t, journal.Limits{SegmentSize: 700}) // a few records each
	for i := range 40 {
		write(t, j, fmt.Sprintf("C%02d", i), fmt.Sprintf("s%d", i%3), fmt.Sprintf("/p%d", i%2), int64(i), i%7 != 3)
	}
	r := &Reader{Journal: j}
	newest, oldest := ids(t, r)
	if len(newest) != 40 || newest[0] != "C39:allowed" || newest[39] != "C00:allowed" || !slices.Contains(newest, "C38:unanswered") {
		t.Errorf("newest first: %v", newest)
	}
	if len(oldest) != 40 || oldest[0] != "C00:allowed" || oldest[39] != "C38:unanswered" {
		t.Errorf("oldest first: %v", oldest)
	}

	for name, test := range map[string]struct {
		filter Filter
		want   int
	}{
		"session":         {Filter{Session: "s1"}, 13},
		"session prefix":  {Filter{Session: "s"}, 40},
		"no session":      {Filter{Session: "s9"}, 0},
		"project":         {Filter{Project: func(root string) bool { return root == "/p1" }}, 20},
		"since":           {Filter{Since: time.Unix(30, 0)}, 10},
		"id in any case":  {Filter{ID: "c1"}, 10},
		"without session": {Filter{Except: "s2"}, 27},
		"but that one":    {Filter{Except: "s2", Session: "s2"}, 13},
	} {
		newest, oldest := ids(t, &Reader{Journal: j, Filter: test.filter})
		slices.Sort(newest)
		slices.Sort(oldest)
		if len(newest) != test.want || !slices.Equal(newest, oldest) {
			t.Errorf("%s: %d, want %d: %v and %v", name, len(newest), test.want, newest, oldest)
		}
	}
}

func TestFindByID(t *testing.T) {
	j, _ := tempJournal(t, journal.Limits{})
	id := journal.NewID()
	write(t, j, id, "s", "/p", 1, true)
	write(t, j, "C2", "s", "/p", 1, true)
	write(t, j, "C3", "s", "/p", 1, false)
	for asked, want := range map[string]int{id: 1, strings.ToLower(id[:20]): 1, "C": 2, "c3": 1, "Z": 0, "": 0, id + "0": 0} {
		found, err := Find(j, asked, 5)
		if check(t, err); len(found) != want {
			t.Errorf("%q: %d, want %d", asked, len(found), want)
		}
	}
	if found, err := Find(j, "C", 1); err != nil || len(found) != 1 || found[0].ID != "C3" {
		t.Errorf("at most one: %+v, %v", found, err)
	}
}

func TestASecondCallForTheSameStopIsNoStop(t *testing.T) {
	j, _ := tempJournal(t, journal.Limits{})
	write(t, j, "C1", "s", "/p", 1, true)
	r := event.Record{Call: "C2", Kind: event.Answered, Event: "Stop", Session: "s", Decision: "allow", Verdicts: []event.Verdict{{Keeper: "chain", Status: "adopted"}}}
	_, err := j.Append(&r)
	check(t, err)

	newest, oldest := ids(t, &Reader{Journal: j})
	if len(newest) != 1 || len(oldest) != 1 {
		t.Errorf("%v, %v", newest, oldest)
	}
	if found, err := Find(j, "C2", 5); err != nil || len(found) != 1 || !found[0].Adopted {
		t.Errorf("%+v, %v", found, err)
	}
	var tally Tally
	tally.Add(Of(&r))
	if tally.Totals().Stops != 0 {
		t.Error("it counts")
	}
}

// What cannot be read is counted and passed over, wherever it stands: a torn line, noise, a line of
// 10 MB, one of a newer stopgate, a segment that is gone.
func TestDamageIsCountedAndPassedOver(t *testing.T) {
	j, dir := tempJournal(t, journal.Limits{})
	write(t, j, "C1", "s", "/p", 1, true)
	write(t, j, "C2", "s", "/p", 2, true)
	segment := filepath.Join(dir, "00000001.log")
	text, err := os.ReadFile(segment)
	check(t, err)
	lines := bytes.SplitAfter(text, []byte("\n"))
	damaged := slices.Concat([]byte("noise\n"), lines[0], lines[1], lines[2], lines[3][:40], []byte("\n"),
		bytes.Repeat([]byte(`{"event":"Stop"`), 700_000), []byte("\n"), lines[4], lines[5])
	check(t, os.WriteFile(segment, damaged, 0o600))
	check(t, os.WriteFile(filepath.Join(dir, "00000003.log"), lines[0], 0o600)) // the second is gone

	for name, read := range map[string]func(r *Reader) iter.Seq2[*Stop, error]{"newest": (*Reader).Newest, "oldest": (*Reader).Oldest} {
		r := &Reader{Journal: j}
		all := ""
		for s, err := range read(r) {
			check(t, err)
			all += s.ID + " "
		}
		if !strings.Contains(all, "C1") || !strings.Contains(all, "C2") {
			t.Errorf("%s: %s", name, all)
		}
		if r.Lost < 3 {
			t.Errorf("%s: %d lost", name, r.Lost)
		}
	}
}

// The newest stops are found without reading older segments.
func TestTheNewestStopNeedsNoOlderSegment(t *testing.T) {
	j, dir := tempJournal(t, journal.Limits{SegmentSize: 700})
	for i := range 12 {
		write(t, j, fmt.Sprintf("C%02d", i), "s", "/p", int64(i), true)
	}
	first := filepath.Join(dir, "00000001.log")
	check(t, os.Remove(first))
	check(t, os.Mkdir(first, 0o700)) // reading it is an error

	for s, err := range (&Reader{Journal: j}).Newest() {
		check(t, err)
		if s.ID != "C11" {
			t.Errorf("%s", s.ID)
		}
		break
	}
	var last error
	for _, err := range (&Reader{Journal: j}).Newest() {
		last = err
	}
	if last == nil {
		t.Error("no error of the segment that cannot be read")
	}
}

func TestAnEmptyJournalHasNoStops(t *testing.T) {
	j, _ := tempJournal(t, journal.Limits{})
	if newest, oldest := ids(t, &Reader{Journal: j}); len(newest)+len(oldest) > 0 {
		t.Errorf("%v, %v", newest, oldest)
	}
}

// FuzzReader plants a record of arbitrary JSON between two sound ones. Both ways of reading find the
// same stops, and what they find can be counted.
func FuzzReader(f *testing.F) {
	f.Add([]byte(`{"v":1,"kind":"answered","call":"C9","event":"Stop","decision":"block","verdicts":[{"keeper":"gates","blocked":true}],"trees":[{"root":"/p","gates":[{"job":"x","outcome":"failed","duration_ms":-1}]}]}`))
	f.Add([]byte(`{"v":1,"kind":"received","event":"StopFailure","time":"2026-01-01T00:00:00+23:59"}`))
	f.Add([]byte(`{"v":1,"kind":"answered","event":"Stop","duration_ms":9223372036854775807,"verdicts":[{"keeper":"supervisor","status":"completed","cost":{"usd":-1e308}}],"trees":[{"gates":[{"outcome":"proven"}],"more":9223372036854775807}]}`))
	f.Add([]byte(`{"v":2,"event":"Stop"}`))
	j, dir := tempJournal(f, journal.Limits{})
	write(f, j, "sound-before", "s", "/p", 1, true)
	segment := filepath.Join(dir, "00000001.log")
	before, err := os.ReadFile(segment)
	check(f, err)
	write(f, j, "sound-after", "s", "/p", 2, true)
	both, err := os.ReadFile(segment)
	check(f, err)
	f.Fuzz(func(t *testing.T, body []byte) {
		if bytes.ContainsAny(body, "\n") {
			return
		}
		check(t, os.Remove(segment)) // ext4 syncs a file that is truncated and written again
		planted := fmt.Appendf(nil, "j1 %08x %s\n", crc32.ChecksumIEEE(body), body)
		check(t, os.WriteFile(segment, slices.Concat(before, planted, both[len(before):]), 0o600))

		newest, oldest := ids(t, &Reader{Journal: j})
		slices.Sort(newest)
		slices.Sort(oldest)
		if len(newest) < 2 || !slices.Equal(newest, oldest) {
			t.Fatalf("%v and %v", newest, oldest)
		}
		var tally Tally
		for s, err := range (&Reader{Journal: j}).Oldest() {
			check(t, err)
			tally.Add(s)
			s.Counts()
		}
		for _, g := range tally.Gates() {
			if s := g.Saved(); s.MS < 0 || s.USD < 0 || g.Typical() < 0 || g.Slowest() < 0 {
				t.Fatalf("%+v: %+v", g, s)
			}
		}
		if total := tally.Totals(); total.WaitedMS < 0 || total.Cost.USD < 0 {
			t.Fatalf("%+v", total)
		}
	})
}
