package change

import (
	"context"
	"crypto/sha256"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

// meddler does something whenever it is asked whether it is over, which happens
// in the middle of reading a file.
type meddler struct {
	context.Context
	meddle func()
}

func (m meddler) Err() error {
	m.meddle()
	return nil
}

func TestFileThatChangesWhileItIsRead(t *testing.T) {
	r := gittest.At(t, gittest.Dir(t))
	dir, err := openFolder(r.Dir)
	check(t, err)
	defer dir.close()
	left := 0
	ctx := meddler{t.Context(), func() {
		if left > 0 {
			left--
			r.Write("a", strings.Repeat("x", 10+left%7))
		}
	}}
	read := func(edits int) (entry, error) {
		left = edits
		r.Write("a", "as it was")
		return dir.read(ctx, "a", nil, make([]byte, 4))
	}
	if _, err := read(1 << 20); !errors.Is(err, errMoving) {
		t.Errorf("never at rest: %v", err)
	}
	e, err := read(1)
	if content, _ := os.ReadFile(r.Path("a")); err != nil || e.sum != sha256.Sum256(content) || e.stat.size != int64(len(content)) {
		t.Errorf("changed once: %+v, %v", e, err)
	}
	gone := meddler{t.Context(), func() { r.Remove("a") }}
	if e, err := dir.read(gone, "a", nil, make([]byte, 4)); err != nil || e.stat.exists() {
		t.Errorf("gone meanwhile: %+v, %v", e, err)
	}
}
