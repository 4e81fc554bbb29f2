package change

import (
	"encoding/binary"
	"errors"
	"hash/crc32"

	"github.com/stopgate/stopgate/internal/sys/atomicfile"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

// entry vouches for the content of a file as long as the file's stat stays the
// same. Only settled files have one.
type entry struct {
	path string
	stat stat
	sum  sum
}

// The private index is a cache, in a file that is taken whole or not at all.
// Numbers are little-endian.
//
//	magic    8 bytes
//	count    4 bytes
//	entries  by path, each: size, mtime, ctime, inode, dev, 8 bytes each; mode,
//	         length of path, 4 bytes each; sum, 32 bytes
//	paths    one after the other
//	CRC-32   of everything before it, 4 bytes
const (
	indexMagic = "sgindex1"
	headSize   = len(indexMagic) + 4
	entrySize  = 5*8 + 2*4 + len(sum{})
)

func encodeIndex(entries []entry) []byte {
	size := headSize + len(entries)*entrySize + 4
	for i := range entries {
		size += len(entries[i].path)
	}
	out := append(make([]byte, 0, size), indexMagic...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(entries)))
	for i := range entries {
		e := &entries[i]
		for _, n := range [...]uint64{uint64(e.stat.size), uint64(e.stat.mtime), uint64(e.stat.ctime), e.stat.inode, e.stat.dev} {
			out = binary.LittleEndian.AppendUint64(out, n)
		}
		out = binary.LittleEndian.AppendUint32(out, e.stat.mode)
		out = binary.LittleEndian.AppendUint32(out, uint32(len(e.path)))
		out = append(out, e.sum[:]...)
	}
	for i := range entries {
		out = append(out, entries[i].path...)
	}
	return binary.LittleEndian.AppendUint32(out, crc32.ChecksumIEEE(out))
}

var errIndex = errors.New("not an index of ours")

func decodeIndex(data []byte) ([]entry, error) {
	end := len(data) - 4
	if end < headSize || string(data[:len(indexMagic)]) != indexMagic ||
		binary.LittleEndian.Uint32(data[end:]) != crc32.ChecksumIEEE(data[:end]) {
		return nil, errIndex
	}
	count := int(binary.LittleEndian.Uint32(data[len(indexMagic):]))
	if count > (end-headSize)/entrySize {
		return nil, errIndex
	}
	fixed, paths := data[headSize:headSize+count*entrySize], string(data[headSize+count*entrySize:end])
	entries := make([]entry, count)
	for i := range entries {
		length := entries[i].decode(fixed[i*entrySize:])
		if length > len(paths) || i > 0 && entries[i-1].path >= paths[:length] {
			return nil, errIndex
		}
		entries[i].path, paths = paths[:length], paths[length:]
	}
	return entries, nil
}

func (e *entry) decode(data []byte) (pathLength int) {
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(data[8*i:]) }
	e.stat = stat{size: int64(word(0)), mtime: int64(word(1)), ctime: int64(word(2)), inode: word(3), dev: word(4)}
	e.stat.mode = binary.LittleEndian.Uint32(data[40:])
	copy(e.sum[:], data[48:])
	return int(binary.LittleEndian.Uint32(data[44:]))
}

// maxIndex is enough for millions of files.
const maxIndex = 1 << 30

// loadIndex gives nothing for a file that is missing, damaged or not ours: then
// every file is read again.
func loadIndex(file string) []entry {
	data, err := regular.Read(file, maxIndex)
	if err != nil {
		return nil
	}
	entries, _ := decodeIndex(data)
	return entries
}

// storeIndex replaces the file at once. Nothing is synced: what a crash leaves
// of it is told by its checksum. Of two writers one wins, and the other's work is
// done again.
func storeIndex(file string, entries []entry) error {
	return atomicfile.Replace(file, encodeIndex(entries), 0o600)
}
