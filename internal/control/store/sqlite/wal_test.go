package sqlite

import (
	"bufio"
	"bytes"
	"testing"
)

// Whatever frame is changed, and wherever the log ends: it is damage when two transactions
// or more are lost, also when the last of them has not all its frames.
func TestDamageOfTwoTransactions(t *testing.T) {
	const size = frameHeader + 4096
	_, log := crashedAfter(t, func(s *Store) { appendSized(t, s, 10_000, 4, "run.a") }) // several frames each
	count := (len(log) - logHeader) / size
	commits := func(frame int) bool { return number(log[logHeader+frame*size+4:]) > 0 }

	seen := map[int]bool{}
	for end := count - 8; end <= count; end++ {
		for frame := range end {
			lost := 0
			for i := frame; i < end; i++ {
				if commits(i) || i == end-1 {
					lost++
				}
			}
			seen[lost] = true

			changed := bytes.Clone(log[:logHeader+end*size])
			changed[logHeader+frame*size+frameHeader+100] ^= 1
			damage, err := scanLog(bufio.NewReader(bytes.NewReader(changed)))
			check(t, err)
			if lost < 2 && damage != nil || lost >= 2 && (damage == nil || damage.transactions != lost || damage.offset != int64(logHeader+frame*size)) {
				t.Errorf("frame %d of %d is changed, %d transactions are lost: %+v", frame, end, lost, damage)
			}
		}
	}
	if !seen[1] || !seen[2] || !seen[3] {
		t.Errorf("lost were %v", seen)
	}
}
