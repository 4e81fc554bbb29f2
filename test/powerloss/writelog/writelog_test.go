package writelog

import (
	"bytes"
	"encoding/binary"
	"os"
	"slices"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
	"github.com/stopgate/stopgate/internal/sys/seedtest"
)

var check = checktest.OK

func TestMain(m *testing.M) {
	environtest.Clean()
	os.Exit(m.Run())
}

const sector = 512

// recorder writes a log as QEMU does.
type recorder struct {
	entries int
	body    []byte
}

func (r *recorder) add(at, sectors int64, flags Flags, data []byte) {
	entry := make([]byte, sector)
	order := binary.LittleEndian
	order.PutUint64(entry, uint64(at))
	order.PutUint64(entry[8:], uint64(sectors))
	order.PutUint64(entry[16:], uint64(flags))
	r.body = append(append(r.body, entry...), data...)
	r.entries++
}

// write records sectors that are full of one letter.
func (r *recorder) write(at, sectors int64, letter byte, flags Flags) {
	r.add(at, sectors, flags, bytes.Repeat([]byte{letter}, int(sectors*sector)))
}

func (r *recorder) flush() { r.add(0, 0, Flush, nil) }

func (r *recorder) bytes() []byte {
	header := make([]byte, sector)
	order := binary.LittleEndian
	order.PutUint64(header, magic)
	order.PutUint64(header[8:], version)
	order.PutUint64(header[16:], uint64(r.entries))
	order.PutUint32(header[24:], sector)
	return append(header, r.body...)
}

func (r *recorder) log(t testing.TB) *Log {
	t.Helper()
	text := r.bytes()
	l, err := Read(bytes.NewReader(text), int64(len(text)))
	check(t, err)
	return l
}

// disk is a small one, a letter for each sector.
type disk []byte

func (d disk) WriteAt(data []byte, at int64) (int, error) { return copy(d[at:], data), nil }

func (d disk) String() string {
	var letters []byte
	for at := 0; at < len(d); at += sector {
		letters = append(letters, d[at])
	}
	return string(letters)
}

func newDisk(sectors int) disk { return bytes.Repeat([]byte{'.'}, sectors*sector) }

func everything(Entry) bool { return true }

func TestEpochsEndAtFlushes(t *testing.T) {
	var r recorder
	r.write(0, 1, 'a', 0)
	r.flush()
	r.write(1, 2, 'b', 0)
	r.add(0, 8, Discard, nil)
	r.add(0, 0, Mark, nil)
	r.write(0, 1, 'c', Flush) // its data comes after what it flushes
	r.write(2, 1, 'd', 0)
	l := r.log(t)

	d := newDisk(4)
	var seen []string
	for _, epoch := range l.Epochs() {
		seen = append(seen, d.String())
		check(t, l.Apply(d, l.Writes(epoch, everything)))
	}
	seen = append(seen, d.String())
	if want := []string{"....", "a...", "abb.", "cbd."}; !slices.Equal(seen, want) {
		t.Errorf("the disk at each flush: %q, want %q", seen, want)
	}
}

func TestWritesOfOthersAreLeftOut(t *testing.T) {
	var r recorder
	r.write(0, 1, 'a', 0)
	r.write(2, 1, 'b', 0)
	l, d := r.log(t), newDisk(4)
	check(t, l.Apply(d, l.Writes(l.Epochs()[0], func(e Entry) bool { return e.Sector < 2 })))
	if got := d.String(); got != "a..." {
		t.Errorf("the disk is %q", got)
	}
}

// Each subset is one that a disk can leave, every kind of them comes up, and a seed brings the same
// ones again.
func TestSubsets(t *testing.T) {
	var r recorder
	for i := range int64(6) {
		r.write(16*i, 16, 'a'+byte(i), 0) // two blocks each
	}
	r.write(96, 1, 'z', FUA)
	l := r.log(t)
	writes := l.Writes(l.Epochs()[0], everything)

	random, seen := seedtest.New(t), map[string]bool{}
	for range 2000 {
		d := newDisk(97)
		check(t, l.Apply(d, l.Subset(random, writes)))
		text := d.String()
		if text[96] != 'z' {
			t.Fatal("a write with FUA was lost")
		}
		for at := 0; at < 96; at += 8 {
			block := text[at : at+8]
			if written := string(bytes.Repeat([]byte{'a' + byte(at/16)}, 8)); block != written && block != "........" {
				t.Fatalf("a block holds %q", block)
			}
		}
		seen[text] = true
	}
	none, all := newDisk(97), newDisk(97)
	check(t, l.Apply(none, writes[6:]))
	check(t, l.Apply(all, writes))
	half := newDisk(97)
	check(t, l.Apply(half, append(slices.Clone(writes[:2]), writes[6])))
	missing := newDisk(97)
	check(t, l.Apply(missing, append(slices.Clone(writes[:3]), writes[4:]...)))
	for what, want := range map[string]string{"nothing": none.String(), "the first two": half.String(), "all but the fourth": missing.String()} {
		if !seen[want] {
			t.Errorf("%s never reached the disk", what)
		}
	}
	if len(seen) < 100 {
		t.Errorf("only %d different disks", len(seen))
	}
	if l.Subset(random, nil) != nil {
		t.Error("something of nothing")
	}
}

func TestBlocksAreThoseOfTheDisk(t *testing.T) {
	var r recorder
	r.write(6, 12, 'a', 0)
	l := r.log(t)
	var got [][2]int64
	for _, p := range l.blocks(l.Writes(l.Epochs()[0], everything)) {
		got = append(got, [2]int64{p.From, p.To})
	}
	if want := [][2]int64{{0, 2}, {2, 10}, {10, 12}}; !slices.Equal(got, want) {
		t.Errorf("blocks %v, want %v", got, want)
	}
}

func TestWhatIsNotALogIsRefused(t *testing.T) {
	var r recorder
	r.write(0, 2, 'a', 0)
	sound := r.bytes()
	change := func(at int, to byte) []byte {
		text := slices.Clone(sound)
		text[at] = to
		return text
	}
	for what, text := range map[string][]byte{
		"empty":                 nil,
		"another magic":         change(0, 0),
		"another version":       change(8, 2),
		"no sector size":        change(25, 0),
		"an odd sector size":    change(24, 1),
		"more entries":          change(16, 2),
		"data beyond the end":   change(sector+8, 3),
		"a sector on no disk":   change(sector+7, 0xff),
		"too many sectors":      change(sector+15, 0xff),
		"cut in the data":       sound[:len(sound)-1],
		"cut in an entry":       sound[:sector+8],
		"a mark beyond its own": append(change(sector+16, byte(Mark))[:sector+24], bytes.Repeat([]byte{0xff}, 2*sector)...),
	} {
		if _, err := Read(bytes.NewReader(text), int64(len(text))); err == nil {
			t.Errorf("%s: it was taken", what)
		}
	}
}

func FuzzRead(f *testing.F) {
	var r recorder
	r.write(0, 1, 'a', 0)
	r.flush()
	r.write(1, 2, 'b', FUA)
	r.add(0, 8, Discard, nil)
	r.add(0, 0, Mark, nil)
	f.Add(r.bytes())
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, text []byte) {
		l, err := Read(bytes.NewReader(text), int64(len(text)))
		if err != nil {
			return
		}
		last := 0
		for _, epoch := range l.Epochs() {
			if epoch.First != last {
				t.Fatalf("an epoch begins at %d after one that ended at %d", epoch.First, last)
			}
			last = epoch.End
			for _, p := range l.blocks(l.Writes(epoch, everything)) {
				if data, err := l.Data(p.Entry); err != nil || p.From >= p.To || p.To*l.SectorSize > int64(len(data)) {
					t.Fatalf("sectors %d to %d of %d bytes, %v", p.From, p.To, len(data), err)
				}
			}
		}
		if last != len(l.Entries) {
			t.Fatalf("the epochs have %d of %d entries", last, len(l.Entries))
		}
	})
}
