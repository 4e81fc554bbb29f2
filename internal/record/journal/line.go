package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"strconv"

	"github.com/stopgate/stopgate/internal/record/event"
)

// maxRecord bounds what is written. Without a payload a record has a few hundred
// bytes; Claude Code's payloads can hold whole files.
const maxRecord = 1 << 20

// maxLine bounds the memory for one line that is read. It is above maxRecord to leave room
// for a newer stopgate.
const maxLine = 16 << 20

// encode returns the line for r, newline included. A payload that is too large,
// or is no JSON, is dropped from r: the fact matters more than its payload.
func encode(r *event.Record) ([]byte, error) {
	line, err := encodeWhole(r)
	if (err != nil || len(line) > maxRecord) && r.Payload != nil {
		r.Payload = nil
		line, err = encodeWhole(r)
	}
	if err != nil {
		return nil, fmt.Errorf("journal: encode record: %w", err)
	}
	if len(line) > maxRecord {
		return nil, fmt.Errorf("journal: record of %d bytes is larger than the limit of %d", len(line), maxRecord)
	}
	return line, nil
}

// encodeWhole compacts the payload, so that the line holds no newline but its
// last byte.
func encodeWhole(r *event.Record) ([]byte, error) {
	if len(r.Payload) > 0 {
		var compact bytes.Buffer
		if err := json.Compact(&compact, r.Payload); err != nil {
			return nil, err
		}
		r.Payload = compact.Bytes()
	}
	return frame(r.Version, r.AppendJSON(nil)), nil
}

func frame(version int, body []byte) []byte {
	return fmt.Appendf(nil, "j%d %s %s\n", version, ownChecksum(body), body)
}

// checksum is CRC-32 with the IEEE polynomial. Castagnoli's is as good, but Go
// takes 0.2 ms to build its tables, in every process that writes a line.
func checksum(body []byte) []byte { return asHex(crc32.ChecksumIEEE(body)) }

// ownChecksum is checksum for a line that is written. Most processes write two short ones, and go through
// them byte by byte, with a table that Go has not recognised, before the tables for long ones were built.
func ownChecksum(body []byte) []byte {
	const short = 4 << 10
	if len(body) > short {
		return checksum(body)
	}
	table := *crc32.IEEETable
	return asHex(crc32.Update(0, &table, body))
}

func asHex(sum uint32) []byte { return fmt.Appendf(nil, "%08x", sum) }

// decoded is what a line turned out to be: exactly one field is set, or none when the
// record is not wanted.
type decoded struct {
	record *event.Record
	newer  int    // its version, when that is above ours
	damage string // why it is neither
}

// decode reads a line without its newline, if its record is wanted; nil wants all.
func decode(line []byte, wanted func(json []byte) bool) decoded {
	prefix, rest, _ := bytes.Cut(line, []byte(" "))
	version, ok := parsePrefix(prefix)
	if !ok {
		return decoded{damage: withoutContent(line, "does not start like a record")}
	}
	sum, body, _ := bytes.Cut(rest, []byte(" "))
	if !bytes.Equal(sum, checksum(body)) {
		return decoded{damage: withoutContent(line, mismatch(body))}
	}
	if version > event.Version {
		return decodeNewer(version, body)
	}
	if wanted != nil && !wanted(body) {
		return decoded{}
	}
	var r event.Record
	if err := json.Unmarshal(body, &r); err != nil {
		return decoded{damage: "is not a record: " + err.Error()}
	}
	if r.Version != version {
		return decoded{damage: otherVersion}
	}
	return decoded{record: &r}
}

const otherVersion = "has two versions: the record and its line do not agree"

// decodeNewer believes a version above ours only when the checksummed object says
// the same: one flipped bit turns "j1" into "j3".
func decodeNewer(version int, body []byte) decoded {
	var r struct {
		Version int `json:"v"`
	}
	if err := json.Unmarshal(body, &r); err != nil || r.Version != version {
		return decoded{damage: otherVersion}
	}
	return decoded{newer: version}
}

// parsePrefix accepts versions from 1 to 999999, without leading zeros.
func parsePrefix(prefix []byte) (int, bool) {
	if len(prefix) < 2 || len(prefix) > 7 || prefix[0] != 'j' || prefix[1] < '1' || prefix[1] > '9' {
		return 0, false
	}
	version, err := strconv.Atoi(string(prefix[1:]))
	return version, err == nil
}

// withoutContent finds zeros in a line that is none, which JSON never has: a file system may know how
// long a file is before it has all of its content.
func withoutContent(line []byte, otherwise string) string {
	if bytes.IndexByte(line, 0) >= 0 {
		return unwritten
	}
	return otherwise
}

const unwritten = "was not yet on the disk when the machine lost power"

func mismatch(body []byte) string {
	if !bytes.HasSuffix(body, []byte("}")) {
		return unfinished
	}
	return "its checksum does not match"
}

const unfinished = "is cut off: its writer was killed or the disk was full"
