package writelog

import (
	"io"
	"math/rand/v2"
)

// Epoch is the time between two flushes: what was written before it is on the disk, and of what was
// written in it any part may be.
type Epoch struct {
	First, End int // its entries are those from First up to, but not including, End
}

// Epochs are all of the log, in order. The first one begins with the log.
func (l *Log) Epochs() []Epoch {
	epochs, first := []Epoch(nil), 0
	for i, e := range l.Entries {
		if e.Flags&Flush != 0 {
			epochs = append(epochs, Epoch{first, i})
			first = i
		}
	}
	return append(epochs, Epoch{first, len(l.Entries)})
}

// Piece is a part of a write that reached the disk.
type Piece struct {
	Entry    Entry
	From, To int64 // its sectors, counted from that of the entry
}

// Writes are the writes among an epoch's entries that keep says belong to the disk, whole and in order.
func (l *Log) Writes(epoch Epoch, keep func(Entry) bool) []Piece {
	var pieces []Piece
	for _, e := range l.Entries[epoch.First:epoch.End] {
		if e.writes() && keep(e) {
			pieces = append(pieces, Piece{e, 0, e.Sectors})
		}
	}
	return pieces
}

// blockBytes is what a disk writes whole or not at all. Most promise it for 4 KiB; a file system
// that has blocks of this size relies on no less.
const blockBytes = 4096

// Subset chooses what of some writes reached the disk before the power went: those up to a moment,
// each by chance, all but one, one alone, or blocks of them. Writes with FUA are always there.
func (l *Log) Subset(random *rand.Rand, writes []Piece) []Piece {
	if len(writes) == 0 {
		return nil
	}
	one, chance := random.IntN(len(writes)), random.Float64()
	var chosen func(i int) bool
	switch random.IntN(5) {
	case 0:
		chosen = func(i int) bool { return i < one }
	case 1:
		chosen = func(int) bool { return random.Float64() < chance }
	case 2:
		chosen = func(i int) bool { return i != one }
	case 3:
		chosen = func(i int) bool { return i == one }
	default:
		writes = l.blocks(writes)
		chosen = func(int) bool { return random.Float64() < chance }
	}

	var subset []Piece
	for i, p := range writes {
		if p.Entry.Flags&FUA != 0 || chosen(i) {
			subset = append(subset, p)
		}
	}
	return subset
}

// blocks cuts writes into the blocks of the disk.
func (l *Log) blocks(writes []Piece) []Piece {
	block := max(1, blockBytes/l.SectorSize)
	var all []Piece
	for _, p := range writes {
		for from := p.From; from < p.To; {
			to := min(p.To, from+block-(p.Entry.Sector+from)%block)
			all = append(all, Piece{p.Entry, from, to})
			from = to
		}
	}
	return all
}

// Apply writes pieces to a disk, in their order.
func (l *Log) Apply(disk io.WriterAt, pieces []Piece) error {
	for _, p := range pieces {
		data, err := l.Data(p.Entry)
		if err != nil {
			return err
		}
		size := l.SectorSize
		if _, err := disk.WriteAt(data[p.From*size:p.To*size], (p.Entry.Sector+p.From)*size); err != nil {
			return err
		}
	}
	return nil
}
