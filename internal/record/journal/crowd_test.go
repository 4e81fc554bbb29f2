package journal

import (
	"bytes"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/process/processtest"
)

// crowd runs writers at once and returns what each said.
func crowd(t *testing.T, dir string, processes, records int, limits Limits) []string {
	t.Helper()
	cmds := make([]*exec.Cmd, processes)
	outs := make([]bytes.Buffer, processes)
	for i := range cmds {
		cmds[i] = writer(t, dir, fmt.Sprintf("p%d", i), records, limits)
		cmds[i].Stdout = &outs[i]
		check(t, cmds[i].Start())
	}
	said := make([]string, processes)
	for i, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			t.Errorf("writer %d: %v", i, err)
		}
		said[i] = outs[i].String()
	}
	return said
}

func TestManyProcessesLoseAndTearNothing(t *testing.T) {
	const processes, records = 24, 40
	j := tempJournal(t, Limits{})
	said := crowd(t, j.dir, processes, records, Limits{})

	ids := map[string]bool{}
	read := map[string]*strings.Builder{}
	for _, e := range readAll(t, j, Position{}) {
		if e.Record == nil {
			t.Fatalf("entry without record: %+v %v", e, e.Damage)
		}
		session, seq := checkSample(t, e.Record)
		if read[session] == nil {
			read[session] = &strings.Builder{}
		}
		fmt.Fprintln(read[session], seq, e.Record.ID, e.Position)
		ids[e.Record.ID] = true
	}
	for i, want := range said {
		session := fmt.Sprintf("p%d", i)
		if got := read[session]; got == nil || got.String() != want {
			t.Errorf("session %s wrote\n%s\nread\n%v", session, want, got)
		}
	}
	if len(ids) != processes*records {
		t.Errorf("%d different ids, want %d", len(ids), processes*records)
	}
}

func TestRotationAndRetentionUnderManyWriters(t *testing.T) {
	const processes, records = 8, 200
	limits := Limits{SegmentSize: 64 << 10, MaxSize: 512 << 10}
	j := tempJournal(t, limits)
	crowd(t, j.dir, processes, records, limits)

	numbers, err := j.segments()
	check(t, err)
	first, last := numbers[0], numbers[len(numbers)-1]
	if first == 1 || last-first+1 != uint64(len(numbers)) {
		t.Errorf("segments %v: want the first ones gone and no holes", numbers)
	}
	var total int64
	for _, n := range numbers {
		total += int64(len(segmentBytes(t, j, n)))
	}
	// Each segment may be over its size by one sample.
	if slack := int64(len(numbers)) * 60 << 10; total > limits.MaxSize+slack || total < limits.MaxSize/2 {
		t.Errorf("%d bytes are left of a limit of %d", total, limits.MaxSize)
	}

	// What is left is the end of what each session wrote, without a hole.
	next := map[string]int{}
	for _, e := range readAll(t, j, Position{}) {
		if e.Record == nil {
			t.Fatalf("entry without record: %+v %v", e, e.Damage)
		}
		session, seq := checkSample(t, e.Record)
		if want, seen := next[session]; seen && seq != want {
			t.Fatalf("session %s: record %d, want %d", session, seq, want)
		}
		next[session] = seq + 1
	}
	for session, seq := range next {
		if seq != records {
			t.Errorf("session %s ends before record %d, want %d", session, seq, records)
		}
	}
}

// Few enough for a machine on which a process takes its time, as under Wine.
func TestIssue19AFewWritersLoseNothing(t *testing.T) {
	const processes, records = 3, 5
	j := tempJournal(t, Limits{})
	crowd(t, j.dir, processes, records, Limits{})
	if n := len(readAll(t, j, Position{})); n != processes*records {
		t.Errorf("%d records, want %d", n, processes*records)
	}
}

func TestRotationLosesNothing(t *testing.T) {
	const processes, records = 8, 100
	limits := Limits{SegmentSize: 4 << 10}
	j := tempJournal(t, limits)
	crowd(t, j.dir, processes, records, limits)
	n := 0
	for _, e := range readAll(t, j, Position{}) {
		if e.Record == nil {
			t.Fatalf("entry without record: %+v %v", e, e.Damage)
		}
		checkSample(t, e.Record)
		n++
	}
	if n != processes*records {
		t.Errorf("%d records, want %d", n, processes*records)
	}
}

func TestOneKeyForAll(t *testing.T) {
	j := tempJournal(t, Limits{})
	cmds := make([]*exec.Cmd, 8)
	outs := make([]bytes.Buffer, len(cmds))
	for i := range cmds {
		cmds[i] = processtest.Child(t, "key", j.dir)
		cmds[i].Stdout = &outs[i]
		check(t, cmds[i].Start())
	}
	for i, cmd := range cmds {
		check(t, cmd.Wait())
		if got := outs[i].String(); len(got) != 2*keySize || got != outs[0].String() {
			t.Errorf("process %d has key %q, process 0 %q", i, got, outs[0].String())
		}
	}
}

func init() {
	children["key"] = func(args []string) error {
		key, err := New(args[0], Limits{}).Key()
		fmt.Printf("%x", key)
		return err
	}
}
