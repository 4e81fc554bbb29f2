//go:build linux || darwin

package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
	"github.com/stopgate/stopgate/internal/sys/lockfile"
	"github.com/stopgate/stopgate/internal/sys/process/processtest"
	"github.com/stopgate/stopgate/internal/sys/racetest"
	"github.com/stopgate/stopgate/internal/sys/seedtest"
)

// children are what the test binary is instead of testing, each with the path of a store.
var children = map[string]func(args []string) error{"write": childWrite, "fill": childFill, "open": childOpen}

func TestMain(m *testing.M) {
	if processtest.Run(children) {
		return
	}
	environtest.Clean()
	os.Exit(m.Run())
}

// childWrite appends from several goroutines, saves snapshots and trims, for ever. It says
// after each event what Append returned: "id position".
func childWrite(args []string) error {
	ctx := context.Background()
	s, err := Open(ctx, args[0])
	if err != nil {
		return err
	}
	if len(s.Found()) > 0 {
		return fmt.Errorf("found %v", s.Found())
	}
	failed := make(chan error)
	for i := range 4 {
		go func() { failed <- writeOn(ctx, s, fmt.Sprintf("run.%d", i)) }()
	}
	go func() {
		for {
			if err := s.SaveSnapshot(ctx, store.Snapshot{Position: s.end(), Data: []byte("state")}); err != nil {
				failed <- err
			}
			if err := trimBy(ctx, s, "test"); err != nil {
				failed <- err
			}
		}
	}()
	return <-failed
}

func writeOn(ctx context.Context, s *Store, subject string) error {
	head, err := s.Head(ctx, subject)
	if err != nil {
		return err
	}
	version := head.Position
	for {
		id := strings.ReplaceAll(subject, ".", "-") + "-" + strconv.FormatUint(uint64(version), 10)
		version, err = s.Append(ctx, store.NewEvent{Subject: subject, ID: id, Expected: version, Data: sample(id)})
		if err != nil {
			return err
		}
		fmt.Println(id, version)
	}
}

// sample is the data of an event, known without having seen it.
func sample(id string) []byte {
	n := len(id) * 7919 % 3000
	if strings.HasSuffix(id, "7") {
		n = 100_000
	}
	return bytes.Repeat([]byte(id), n/len(id)+1)
}

// A process writes until it is killed at a random moment. What it was told is there,
// nothing is half there, and the store verifies.
func TestKilled(t *testing.T) {
	rounds := 15
	if os.Getenv("STOPGATE_FULL") != "" {
		rounds = 200
	}
	random := seedtest.New(t)
	path := tempPath(t)
	heads := map[string]store.Position{}
	events := 0
	for round := range rounds {
		acknowledged := killedWriter(t, path, random)
		s, err := Open(t.Context(), path)
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if len(s.Found()) > 0 {
			t.Fatalf("round %d: found %v", round, s.Found())
		}
		report, err := s.Verify(t.Context())
		if err != nil || !report.Sound() {
			t.Fatalf("round %d: %v, %v", round, report.Findings, err)
		}
		for e, err := range s.ReadAll(t.Context(), s.gone()) {
			if err != nil {
				t.Fatalf("round %d: %v", round, err)
			}
			if !bytes.Equal(e.Data, sample(e.ID)) {
				t.Fatalf("round %d: event %d has data that nobody wrote", round, e.Position)
			}
			if at, ok := acknowledged[e.ID]; ok && at != e.Position {
				t.Fatalf("round %d: %s is at %d, Append said %d", round, e.ID, e.Position, at)
			}
			delete(acknowledged, e.ID)
			events++
		}
		for id, at := range acknowledged {
			if at > s.gone() {
				t.Fatalf("round %d: %s at %d is lost", round, id, at)
			}
		}
		for i := range 4 {
			subject := fmt.Sprintf("run.%d", i)
			head, err := s.Head(t.Context(), subject)
			if err != nil || head.Position < heads[subject] {
				t.Fatalf("round %d: head of %s is %d, was %d: %v", round, subject, head.Position, heads[subject], err)
			}
			heads[subject] = head.Position
		}
		check(t, s.Close())
	}
	t.Logf("%d rounds, %d events read, the last at %v", rounds, events, heads)
}

func killedWriter(t *testing.T, path string, random *rand.Rand) map[string]store.Position {
	t.Helper()
	out := processtest.NewSaid()
	cmd := processtest.Child(t, "write", path)
	cmd.Stdout = out
	check(t, cmd.Start())
	select {
	case <-out.First:
	case <-time.After(time.Minute):
		t.Error("no event in a minute")
	}
	time.Sleep(time.Duration(random.Int64N(int64(80 * time.Millisecond)))) // the moment is the test's, nothing waits for it
	cmd.Process.Kill()
	cmd.Wait()
	acknowledged := map[string]store.Position{}
	for line := range strings.Lines(out.String()) {
		var id string
		var at store.Position
		if n, _ := fmt.Sscan(line, &id, &at); n == 2 && strings.HasSuffix(line, "\n") {
			acknowledged[id] = at
		}
	}
	return acknowledged
}

// A process converts a store until it is killed at a random moment: the store is the old one
// or the new one, whole.
func TestKilledWhileConverting(t *testing.T) {
	racetest.Skip(t)
	random := seedtest.New(t)
	const events = 20_000
	path := tempPath(t)
	makeFormat1(t, path, events)
	for round := range 15 {
		cmd := processtest.Child(t, "open", path)
		check(t, cmd.Start())
		time.Sleep(time.Duration(random.Int64N(int64(time.Duration(round+1) * 50 * time.Millisecond)))) // the moment is the test's, nothing waits for it
		cmd.Process.Kill()
		cmd.Wait()
		db := raw(t, path)
		version, count, query := 0, 0, map[int]string{1: "SELECT sum(last % 10 = 0) * 10 FROM batches", 2: "SELECT count(*) FROM events"}
		check(t, db.QueryRow("PRAGMA user_version").Scan(&version))
		if err := db.QueryRow(query[version]).Scan(&count); err != nil || count < events {
			t.Fatalf("round %d: %d events in format %d, %v", round, count, version, err)
		}
		db.Close()
		t.Logf("round %d: format %d", round, version)
	}
	s := mustOpen(t, path)
	if got := all(t, s); len(got) != events {
		t.Errorf("%d events", len(got))
	}
	if report, err := s.Verify(t.Context()); err != nil || !report.Sound() {
		t.Errorf("%v, %v", report.Findings, err)
	}
}

// makeFormat1 makes a store of format 1 with rows of ten events.
func makeFormat1(t *testing.T, path string, events int) {
	t.Helper()
	check(t, os.WriteFile(path, nil, 0o600))
	conn, err := raw(t, path).Conn(t.Context())
	check(t, err)
	defer conn.Close()
	exec := func(query string, args ...any) {
		if _, err := conn.ExecContext(t.Context(), query, args...); err != nil {
			t.Fatal(err)
		}
	}
	exec(`PRAGMA journal_mode = WAL;
		CREATE TABLE batches (last INTEGER PRIMARY KEY, body BLOB NOT NULL);
		CREATE TABLE heads (subject TEXT PRIMARY KEY, position INTEGER NOT NULL, hash BLOB NOT NULL) WITHOUT ROWID;
		CREATE TABLE ids (last INTEGER PRIMARY KEY, prints BLOB NOT NULL);
		CREATE TABLE snapshots (position INTEGER PRIMARY KEY, hash BLOB NOT NULL, data BLOB NOT NULL);
		PRAGMA application_id = 0x73746761; PRAGMA user_version = 1; BEGIN`)
	heads := map[string]entry{}
	var body []byte
	for n := 1; n <= events; n++ {
		subject := fmt.Sprintf("run.%d", n%50)
		before := heads[subject]
		e := entry{Event: store.Event{Position: store.Position(n), Subject: subject, ID: fmt.Sprint("id-", n), Data: []byte("data"), Previous: before.Hash}, prior: before.Position}
		e.Hash = store.Seal(e.Previous, e.Subject, e.ID, e.Data)
		heads[subject] = e
		if body = encode(body, &e); n%10 == 0 {
			exec("INSERT INTO batches VALUES (?, ?)", n, body)
			body = nil
		}
	}
	exec("COMMIT")
}

// A limit on the size of files fails like a full disk.
func TestFullDisk(t *testing.T) {
	path := tempPath(t)
	out, err := processtest.Child(t, "fill", path).Output()
	check(t, err)
	checkFilled(t, path, string(out))
}

// childFill appends until that fails, and says what did not.
func childFill(args []string) error {
	signal.Ignore(syscall.SIGXFSZ)
	ctx := context.Background()
	s, err := Open(ctx, args[0])
	if err != nil {
		return err
	}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 600_000, Max: 1 << 30}); err != nil {
		return err
	}
	failure := once(ctx, s)
	for n := 0; failure == nil; n++ {
		if n > 2000 {
			return errors.New("there is no limit")
		}
		failure = once(ctx, s)
	}
	if errors.Is(failure, store.ErrUnknown) {
		return fmt.Errorf("the outcome is known: %w", failure)
	}
	before, err := s.Head(ctx, "run.a")
	if err != nil {
		return err
	}
	// Room again: it goes on, with the same ID.
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 1 << 30, Max: 1 << 30}); err != nil {
		return err
	}
	if err := once(ctx, s); err != nil {
		return fmt.Errorf("with room again: %w", err)
	}
	for id := range before.Position + 1 {
		fmt.Println(id)
	}
	fmt.Println(failure)
	return s.Close()
}

// once appends one event of about 3 kB behind the last.
func once(ctx context.Context, s *Store) error {
	head, err := s.Head(ctx, "run.a")
	if err != nil {
		return err
	}
	id := fmt.Sprint(head.Position)
	_, err = s.Append(ctx, store.NewEvent{Subject: "run.a", ID: id, Expected: head.Position, Data: bytes.Repeat([]byte(id), 3000/len(id))})
	return err
}

// checkFilled checks that the store has what out says was appended, and that the last
// line is an error a person can use.
func checkFilled(t *testing.T, path, out string) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(out), "\n")
	ids, failure := lines[:len(lines)-1], lines[len(lines)-1]
	if !strings.Contains(failure, path) || !strings.Contains(failure, "disk") {
		t.Errorf("error %q", failure)
	}
	s := mustOpen(t, path)
	var got []string
	for e, err := range s.ReadAll(t.Context(), 0) {
		check(t, err)
		got = append(got, e.ID)
	}
	if strings.Join(got, " ") != strings.Join(ids, " ") || len(ids) < 20 {
		t.Errorf("events %q\nwant %q", got, ids)
	}
	if report, err := s.Verify(t.Context()); err != nil || !report.Sound() {
		t.Errorf("%v, %v", report.Findings, err)
	}
}

// The same on a file system that really is full.
func TestFullFileSystem(t *testing.T) {
	mount := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", mount).CombinedOutput(); err != nil {
		t.Skipf("cannot mount a small file system: %v %s", err, out)
	}
	t.Cleanup(func() { exec.Command("umount", mount).Run() }) // after the store is closed
	path := filepath.Join(mount, "stopgate.db")
	s := mustOpen(t, path)
	var ids []string
	var failure error
	for failure == nil && len(ids) < 2000 {
		head, err := s.Head(t.Context(), "run.a")
		check(t, err)
		id := fmt.Sprint(head.Position)
		_, failure = s.Append(t.Context(), store.NewEvent{Subject: "run.a", ID: id, Expected: head.Position, Data: make([]byte, 3000)})
		if failure == nil {
			ids = append(ids, id)
		}
	}
	if errors.Is(failure, store.ErrUnknown) {
		t.Errorf("the outcome is known: %v", failure)
	}
	if out, err := exec.Command("mount", "-o", "remount,size=8m", mount).CombinedOutput(); err != nil {
		t.Fatalf("remount: %v %s", err, out)
	}
	head, err := s.Head(t.Context(), "run.a")
	check(t, err)
	if _, err := s.Append(t.Context(), store.NewEvent{Subject: "run.a", ID: fmt.Sprint(head.Position), Expected: head.Position}); err != nil {
		t.Errorf("with room again: %v", err)
	}
	ids = append(ids, fmt.Sprint(head.Position))
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	checkFilled(t, path, strings.Join(append(ids, failure.Error()), "\n"))
}

// A second process is told who is there, and changes nothing.
func TestSecondProcess(t *testing.T) {
	path := tempPath(t)
	s := mustOpen(t, path)
	check(t, once(t.Context(), s))
	out, err := processtest.Child(t, "open", path).Output()
	check(t, err)
	if want := "open in another process"; !strings.Contains(string(out), want) || !strings.Contains(string(out), path) {
		t.Errorf("error %q", out)
	}
	if _, err := Open(t.Context(), path); !errors.Is(err, lockfile.ErrBusy) {
		t.Errorf("in the same process: %v", err)
	}
	if err := once(t.Context(), s); err != nil {
		t.Error(err)
	}
	// It can be verified meanwhile.
	if report, err := Verify(t.Context(), path); err != nil || !report.Sound() || report.Events != 2 {
		t.Errorf("%+v, %v", report, err)
	}
	check(t, s.Close())
	if out, err := processtest.Child(t, "open", path).Output(); err != nil || string(out) != "" {
		t.Errorf("after it was closed: %q, %v", out, err)
	}
}

func childOpen(args []string) error {
	s, err := Open(context.Background(), args[0])
	if err != nil {
		fmt.Print(err)
		return nil
	}
	return s.Close()
}

// The lock keeps out our own kind. Another program may write nevertheless: nothing is
// written over.
func TestAnotherProgramWrites(t *testing.T) {
	path := tempPath(t)
	s := mustOpen(t, path)
	check(t, once(t.Context(), s))
	head, err := s.Head(t.Context(), "run.a")
	check(t, err)
	foreign := entry{Event: store.Event{Position: head.Position + 1, Subject: "run.a", ID: "foreign", Previous: head.Hash}, prior: head.Position}
	foreign.Hash = store.Seal(foreign.Previous, foreign.Subject, foreign.ID, nil)
	tamper(t, path, "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, x'')",
		int64(foreign.Position), foreign.Subject, foreign.ID, int64(foreign.prior), foreign.Previous[:], foreign.Hash[:])
	tamper(t, path, "UPDATE heads SET position = ?, hash = ? WHERE subject = 'run.a'", int64(foreign.Position), foreign.Hash[:])
	_, err = s.Append(t.Context(), store.NewEvent{Subject: "run.a", ID: "ours", Expected: head.Position})
	if !errors.Is(err, store.ErrConflict) {
		t.Errorf("error %v, want ErrConflict", err)
	}
	if _, err = s.Append(t.Context(), store.NewEvent{Subject: "run.a", ID: "ours", Expected: foreign.Position}); err != nil {
		t.Error(err)
	}
	if report, err := s.Verify(t.Context()); err != nil || !report.Sound() || report.Events != 3 {
		t.Errorf("%+v, %v", report, err)
	}
}

// Files are for their owner alone, also those that SQLite makes.
func TestModes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state", "with space?#%41\n")
	path := filepath.Join(dir, "stopgate.db")
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	s := mustOpen(t, path)
	check(t, s.RecordHeads(t.Context()))
	check(t, once(t.Context(), s))
	check(t, s.Backup(t.Context(), filepath.Join(dir, "copy.db")))
	wantPrivate := func() {
		t.Helper()
		names, err := os.ReadDir(dir)
		if err != nil || len(names) < 3 {
			t.Fatalf("%v, %v", names, err)
		}
		for _, name := range names {
			if info, err := name.Info(); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%s has mode %v, %v", name.Name(), info.Mode(), err)
			}
		}
	}
	wantPrivate()
	check(t, s.Close())
	wantPrivate()
	check(t, os.Chmod(path, 0o644))
	if s, err := Open(t.Context(), path); err != nil {
		t.Error(err)
	} else {
		s.Close()
	}
	wantPrivate()
}
