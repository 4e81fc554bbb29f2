//go:build unix

package trust

import (
	"path/filepath"
	"syscall"
	"testing"
)

// Opening a fifo would wait for a writer for ever.
func TestFifoDoesNotHang(t *testing.T) {
	s, root := approved(t)
	check(t, syscall.Mkfifo(filepath.Join(root, ".gauntlet", "z"), 0o600))
	st := standing(t, s, root)
	if st.State != Edited {
		t.Errorf("got %+v, want edited", st)
	}
	wantCopy(t, st)
	if err := s.Approve(root, noon); err == nil {
		t.Error("a fifo was approved")
	}
}

func TestFifoInTheCopyDoesNotHang(t *testing.T) {
	s, root := approved(t)
	check(t, syscall.Mkfifo(filepath.Join(standing(t, s, root).Dir, "z"), 0o600))
	wantCopy(t, standing(t, s, root))
}
