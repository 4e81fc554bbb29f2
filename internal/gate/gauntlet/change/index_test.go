package change

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

var anyEntries = rapid.Custom(func(t *rapid.T) []entry {
	byPath := map[string]entry{}
	for range rapid.IntRange(0, 20).Draw(t, "count") {
		e := entry{path: string(rapid.SliceOf(rapid.Byte()).Draw(t, "path"))}
		e.stat = stat{
			rapid.Int64().Draw(t, "size"), rapid.Int64().Draw(t, "mtime"), rapid.Int64().Draw(t, "ctime"),
			rapid.Uint64().Draw(t, "inode"), rapid.Uint64().Draw(t, "dev"), rapid.Uint32().Draw(t, "mode"),
		}
		copy(e.sum[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "sum"))
		byPath[e.path] = e
	}
	var entries []entry
	for _, e := range byPath {
		entries = append(entries, e)
	}
	slices.SortFunc(entries, func(a, b entry) int { return bytes.Compare([]byte(a.path), []byte(b.path)) })
	return entries
})

func sameEntries(a, b []entry) bool { return slices.Equal(a, b) }

func TestIndexSurvivesItsFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "deep", "er", "index")
	rapid.Check(t, func(t *rapid.T) {
		entries := anyEntries.Draw(t, "entries")
		if err := storeIndex(file, entries); err != nil {
			t.Fatal(err)
		}
		if got := loadIndex(file); !sameEntries(got, entries) {
			t.Fatalf("got %v, want %v", got, entries)
		}
	})
	if info, err := os.Stat(file); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// Any cut and any flipped bit is noticed.
func TestDamagedIndexIsNone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := encodeIndex(anyEntries.Draw(t, "entries"))
		cut := rapid.IntRange(0, len(data)-1).Draw(t, "cut")
		if got, err := decodeIndex(data[:cut]); err == nil {
			t.Fatalf("cut at %d of %d: %v", cut, len(data), got)
		}
		data[cut] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		if got, err := decodeIndex(data); err == nil {
			t.Fatalf("flipped a bit at %d: %v", cut, got)
		}
	})
}

func FuzzDecodeIndex(f *testing.F) {
	f.Add(encodeIndex(nil))
	f.Add(encodeIndex([]entry{{path: "a", stat: stat{mode: typeRegular}}, {path: "b/c", stat: stat{size: 1}}}))
	f.Fuzz(func(t *testing.T, data []byte) {
		sealed := encodeIndex(nil)[:len(indexMagic)] // with a checksum that is right
		sealed = append(sealed, data...)
		for _, input := range [][]byte{data, seal(sealed)} {
			entries, err := decodeIndex(input)
			if err != nil {
				continue
			}
			if got, err := decodeIndex(encodeIndex(entries)); err != nil || !sameEntries(got, entries) {
				t.Fatalf("got %v, %v; want %v", got, err, entries)
			}
		}
	})
}

// The index is really used: what it says of a file that has not changed is
// believed.
func TestIndexVouchesForFiles(t *testing.T) {
	r := small(t)
	w := open(t, r)
	want := exact(t, w)
	entries := loadIndex(w.indexFile)
	if len(entries) != 5 {
		t.Fatalf("got %d entries", len(entries))
	}
	entries[1].sum[0]++
	check(t, storeIndex(w.indexFile, entries))
	again := Open(r.Dir, logDir, w.indexFile, r.Env, later)
	if exact(t, again) == want {
		t.Error("the file was read again")
	}
	for what, damage := range map[string][]byte{"empty": nil, "foreign": []byte("DIRC\x00\x00\x00\x02"), "10 MB": bytes.Repeat([]byte("sgindex1"), 10<<17)} {
		check(t, os.WriteFile(w.indexFile, damage, 0o600))
		again := Open(r.Dir, logDir, w.indexFile, r.Env, later)
		if exact(t, again) != want {
			t.Errorf("%s: not read again", what)
		}
		if got := loadIndex(w.indexFile); len(got) != 5 {
			t.Errorf("%s: not written again", what)
		}
	}
}

func TestIndexIsWrittenOnlyWhenItSaysMore(t *testing.T) {
	r := small(t)
	w := open(t, r)
	exact(t, w)
	written := func() os.FileInfo {
		info, err := os.Stat(w.indexFile)
		check(t, err)
		return info
	}
	step := func(what string, rewritten bool) {
		t.Helper()
		before := written()
		exact(t, w)
		exact(t, Open(r.Dir, logDir, w.indexFile, r.Env, later))
		if os.SameFile(before, written()) == rewritten {
			t.Errorf("%s: written: %t", what, !rewritten)
		}
	}
	step("nothing", false)
	r.Write("a", "2\n")
	step("an edit", true)
	r.Remove("a")
	step("a deletion", true)
	r.Write("ignored", "")
	step("an ignored file", false)
}

// Without a place to write it to, only time is lost.
func TestIndexThatCannotBeWritten(t *testing.T) {
	r := small(t)
	blocked := filepath.Join(t.TempDir(), "file")
	check(t, os.WriteFile(blocked, nil, 0o600))
	folder := filepath.Join(filepath.Dir(blocked), "folder", "index")
	check(t, os.MkdirAll(filepath.Join(folder, "full"), 0o700))
	for _, file := range []string{filepath.Join(blocked, "index"), folder} {
		w := Open(r.Dir, logDir, file, r.Env, later)
		for range 2 {
			if exact(t, w) != exact(t, open(t, r)) {
				t.Error("another tree")
			}
		}
	}
	if left, err := os.ReadDir(filepath.Dir(folder)); len(left) != 1 || err != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A file that was just written, or only looks old or new, is read again until it
// has been left alone.
func TestFreshFilesAreNotInTheIndex(t *testing.T) {
	for name, shift := range map[string]time.Duration{"written": 0, "set back": -time.Hour, "set ahead": time.Hour} {
		t.Run(name, func(t *testing.T) {
			r := gittest.At(t, gittest.Dir(t))
			r.Write("a", "1")
			times := time.Now().Add(shift)
			check(t, os.Chtimes(r.Path("a"), times, times))
			dir, err := openFolder(r.Dir)
			check(t, err)
			defer dir.close()
			s, err := dir.lstat("a")
			check(t, err)
			left := time.Unix(0, max(s.mtime, s.ctime))
			for after, want := range map[time.Duration]int{-time.Hour: 0, 0: 0, settle - 1: 0, settle: 1, time.Hour: 1} {
				index := filepath.Join(t.TempDir(), "index")
				exact(t, Open(r.Dir, logDir, index, nil, func() time.Time { return left.Add(after) }))
				if got := len(loadIndex(index)); got != want {
					t.Errorf("after %s: %d entries, want %d", after, got, want)
				}
			}
		})
	}
}

// One file that has settled does not bring a fresh one into the index with it.
func TestFreshFileBesideAnOldOne(t *testing.T) {
	r := gittest.At(t, gittest.Dir(t))
	dir, err := openFolder(r.Dir)
	check(t, err)
	defer dir.close()
	r.Write("old", "1")
	old, err := dir.lstat("old")
	check(t, err)
	fresh := old
	for fresh.ctime <= old.ctime { // until the file system's clock has ticked
		r.Write("fresh", "1")
		if fresh, err = dir.lstat("fresh"); err != nil {
			t.Fatal(err)
		}
	}
	index := filepath.Join(t.TempDir(), "index")
	exact(t, Open(r.Dir, logDir, index, nil, func() time.Time { return time.Unix(0, old.ctime).Add(settle) }))
	if known := loadIndex(index); len(known) != 1 || known[0].path != "old" {
		t.Errorf("got %v", known)
	}
}

// However files come and go, reading with an index gives what reading without
// one gives.
func TestSnapshotIgnoresItsPast(t *testing.T) {
	names := []string{"a", "b-c", "b/c", "b/d/e", "z"}
	rapid.Check(t, func(rt *rapid.T) {
		r := gittest.At(t, gittest.Dir(t))
		index := filepath.Join(t.TempDir(), "index")
		for range rapid.IntRange(1, 6).Draw(rt, "steps") {
			for range rapid.IntRange(0, 4).Draw(rt, "edits") {
				name := rapid.SampledFrom(names).Draw(rt, "name")
				r.Remove(name)
				if rapid.Bool().Draw(rt, "write") {
					r.Write(name, rapid.SampledFrom([]string{"", "1", "2", "long"}).Draw(rt, "content"))
				}
			}
			clock := rapid.SampledFrom([]time.Duration{0, time.Hour}).Draw(rt, "clock")
			warm := Open(r.Dir, logDir, index, nil, func() time.Time { return time.Now().Add(clock) })
			if rapid.Bool().Draw(rt, "inputs") {
				if _, err := warm.Inputs(t.Context(), []string{"b/**", "a"}, ""); err != nil {
					rt.Fatal(err)
				}
			}
			cold := Open(r.Dir, logDir, filepath.Join(t.TempDir(), "index"), nil, later)
			if got, want := exact(t, warm), exact(t, cold); got != want {
				rt.Fatalf("got %s, want %s", got, want)
			}
			known := loadIndex(index)
			if !slices.IsSortedFunc(known, func(a, b entry) int { return bytes.Compare([]byte(a.path), []byte(b.path)) }) {
				rt.Fatalf("not sorted: %v", known)
			}
			if diff := cmp.Diff(len(warm.known), len(known)); diff != "" {
				rt.Fatal(diff)
			}
		}
	})
}

// seal adds the checksum.
func seal(data []byte) []byte {
	return binary.LittleEndian.AppendUint32(data, crc32.ChecksumIEEE(data))
}
