//go:build unix

package ledger

import (
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/sys/atomicfile/atomicfiletest"
)

func TestTheLedgerIsDurable(t *testing.T) {
	l := newLedger(t)
	steps := atomicfiletest.Watch(t)
	for _, job := range []string{"check:.:a", "check:.:b"} {
		steps.Forget()
		update(t, l, fail(job))
		steps.WantReplaced(t, l.path())
	}

	h := OpenHistory(t.TempDir(), l.root)
	check(t, h.Add(t.Context(), map[string]Finish{"check:.:a": {At: time.Now(), In: time.Second}}))
	steps.WantReplaced(t, h.path)
}
