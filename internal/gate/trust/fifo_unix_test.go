//go:build unix

package trust

import (
	"os"
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

func TestFifoInPlaceOfTheApprovalDoesNotHang(t *testing.T) {
	s, root := approved(t)
	for _, name := range []string{approvalFile, spareFile} {
		wantCopy(t, standing(t, s, root))
		path := filepath.Join(s.folder(keys(root)[0]), name)
		check(t, os.Remove(path))
		check(t, syscall.Mkfifo(path, 0o600))
	}
	if st, err := s.Standing(root); err == nil || st.State != Damaged || !s.Gated(root) {
		t.Errorf("got %+v, %v; want it damaged, and still gated", st, err)
	}
}
