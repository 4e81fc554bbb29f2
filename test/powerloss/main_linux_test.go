package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
	"github.com/stopgate/stopgate/test/powerloss/workload"
	"github.com/stopgate/stopgate/test/powerloss/writelog"
)

var check = checktest.OK

func TestMain(m *testing.M) {
	environtest.Clean()
	os.Exit(m.Run())
}

// recorded is a log with these writes, of one sector each; no sector is a flush.
func recorded(t *testing.T, writes ...write) *writelog.Log {
	t.Helper()
	order := binary.LittleEndian
	text := make([]byte, sectorBytes)
	order.PutUint64(text, 0x6a736677736872)
	order.PutUint64(text[8:], 1)
	order.PutUint64(text[16:], uint64(len(writes)))
	order.PutUint32(text[24:], sectorBytes)
	for _, w := range writes {
		entry := make([]byte, sectorBytes)
		order.PutUint64(entry, uint64(w.sector))
		order.PutUint64(entry[8:], uint64(len(w.data)/sectorBytes))
		if len(w.data) == 0 {
			order.PutUint64(entry[16:], uint64(writelog.Flush))
		}
		text = append(append(text, entry...), w.data...)
	}
	log, err := writelog.Read(bytes.NewReader(text), int64(len(text)))
	check(t, err)
	return log
}

type write struct {
	sector int64
	data   []byte
}

func ack(n int64, part string, operation int) write {
	return write{systemBytes/sectorBytes + n, workload.Ack{Part: part, N: operation}.Encode()}
}

// What was acknowledged before a flush must be on the disk that the flush before it left.
func TestIssue20AcknowledgementsBelongToTheFlushBefore(t *testing.T) {
	log := recorded(
		t,
		write{1, make([]byte, sectorBytes)}, write{},
		ack(0, "journal", 1), write{2, make([]byte, sectorBytes)}, ack(1, "store", 1), write{},
		ack(2, "journal", 2),
	)
	acked := map[string]int{}
	var seen []string
	for _, epoch := range log.Epochs() {
		check(t, takeAcks(log, epoch, acked))
		seen = append(seen, fmt.Sprint(acked))
	}
	if got, want := strings.Join(seen, " "), "map[] map[journal:1 store:1] map[journal:2 store:1]"; got != want {
		t.Errorf("acknowledged at each cut: %s, want %s", got, want)
	}
}

func TestAcknowledgementsThatCannotBe(t *testing.T) {
	for what, w := range map[string]write{
		"one is missing": ack(0, "journal", 2),
		"damaged":        {systemBytes / sectorBytes, make([]byte, sectorBytes)},
	} {
		log := recorded(t, w)
		if err := takeAcks(log, log.Epochs()[0], map[string]int{}); err == nil {
			t.Errorf("%s: it was taken", what)
		}
	}
}

func TestTally(t *testing.T) {
	var all tally
	all.add(3, workload.Seen{Last: 3}, nil)
	all.add(3, workload.Seen{Last: 4}, nil)
	all.add(3, workload.Seen{Last: 1, Refused: 2}, nil)
	for _, fault := range []error{workload.ErrLost, workload.ErrNotWritten, workload.ErrDamaged, os.ErrPermission} {
		all.add(3, workload.Seen{}, fmt.Errorf("x: %w", fault))
	}
	want := tally{images: 7, acked: 21, old: 1, fresh: 1, behind: 1, refused: 2, lost: 1, notWritten: 1, damaged: 1, failed: 1}
	if all != want {
		t.Errorf("got %+v, want %+v", all, want)
	}
	var out strings.Builder
	all.part = "journal"
	check(t, print(&out, []*tally{&all}))
	if got := strings.Fields(strings.Split(out.String(), "\n")[1]); strings.Join(got, " ") != "journal 7 21 1 1 1 2 1 1 1 1" {
		t.Errorf("printed %q", out.String())
	}
}

// The archive is one that cpio reads.
func TestArchive(t *testing.T) {
	program, err := exec.LookPath("cpio")
	if err != nil {
		t.Skip("there is no cpio here")
	}
	var a archive
	a.dir("modules")
	a.file("init", []byte("first"))
	a.file("modules/00-odd.ko", []byte("sixteen bytes ..."))
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), program, "-i", "--quiet")
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(a.bytes())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for name, want := range map[string]string{"init": "first", "modules/00-odd.ko": "sixteen bytes ..."} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// What ends early says so, and leaves nothing that passes.
func TestAGuestThatDoesNotEnd(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	check(t, os.WriteFile(filepath.Join(dir, "qemu-system-x86_64"), []byte("#!/bin/sh\necho Kernel panic\n"), 0o700))
	check(t, os.MkdirAll(filepath.Join(dir, "modules", "kernel"), 0o700))
	check(t, os.WriteFile(filepath.Join(dir, "guest"), nil, 0o600))
	m := machine{kernel: "none", modules: filepath.Join(dir, "modules"), guest: filepath.Join(dir, "guest")}
	if err := m.write(context.Background(), dir, "disk", "log", ""); err == nil || !strings.Contains(err.Error(), "Kernel panic") {
		t.Errorf("error %v", err)
	}
	tried := trial{machine: m, dir: dir, boot: "disk"}
	if _, err := tried.bootThrice(t.Context()); err == nil || !strings.Contains(err.Error(), "Kernel panic") {
		t.Errorf("error %v", err)
	}
}
