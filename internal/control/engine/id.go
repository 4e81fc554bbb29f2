package engine

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
)

// EventID is the id of the event in the store that an input leads to. The same input,
// told again, has the same one, so that it cannot be appended twice.
func EventID(owner, input string) string {
	sum := digest("event", owner, input)
	return hex.EncodeToString(sum[:16])
}

// digest is a hash of parts that no other parts have.
func digest(parts ...string) [sha256.Size]byte {
	h := sha256.New()
	var size [8]byte
	for _, part := range parts {
		binary.BigEndian.PutUint64(size[:], uint64(len(part)))
		h.Write(size[:])
		h.Write([]byte(part))
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// agentID is a UUID of version 5 in form: the same each time that it is made.
func agentID(owner string, serial int) string {
	sum := digest("agent", owner, strconv.Itoa(serial))
	sum[6] = sum[6]&0x0f | 0x50
	sum[8] = sum[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[0:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

func decisionID(owner string, serial int) string {
	sum := digest("decision", owner, strconv.Itoa(serial))
	return hex.EncodeToString(sum[:8])
}

// seenHash is what an owner keeps of an input's id.
func seenHash(input string) uint64 {
	sum := digest("input", input)
	return binary.BigEndian.Uint64(sum[:])
}
