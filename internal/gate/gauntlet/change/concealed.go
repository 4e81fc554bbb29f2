package change

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"

	"github.com/stopgate/stopgate/internal/sys/git"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

// concealed lists the files whose changes git was told not to see: one command
// (git update-index --assume-unchanged) would otherwise take a file out of
// reach of every gate. Such files are rare, and only where one exists is git
// asked anything more.
func (w *Worktree) concealed(ctx context.Context) ([]string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()

	if !w.listed {
		list, err := w.repo.Files(ctx)
		if err != nil {
			return nil, err
		}
		w.hidden, w.listed = list.Hidden, true
	}

	present, absent, err := w.split(w.hidden)
	if err != nil {
		return nil, err
	}

	var changed []string
	if len(absent) > 0 {
		// A sparse checkout hides files because they are not there.
		if sparse, err := w.repo.Sparse(ctx); err != nil {
			return nil, err
		} else if !sparse {
			changed = absent
		}
	}

	if len(present) == 0 {
		return changed, nil
	}
	blobs, err := w.repo.Blobs(ctx)
	if err != nil {
		return nil, err
	}
	for _, name := range present {
		if !w.isBlob(ctx, name, blobs[name]) {
			changed = append(changed, name)
		}
	}
	return changed, nil
}

// split tells the project's files that exist from those that do not.
func (w *Worktree) split(names []string) (present, absent []string, err error) {
	dir, err := openFolder(w.root)
	if err != nil {
		return nil, nil, err
	}
	defer dir.close()
	for _, name := range names {
		switch s, err := dir.lstat(name); {
		case !w.holds(name):
		case err == nil && !s.exists():
			absent = append(absent, name)
		default:
			present = append(present, name)
		}
	}
	return present, absent, nil
}

// isBlob reports whether a file's bytes are the blob. One that git would convert
// on the way in counts as changed, which at worst runs a gate too often.
func (w *Worktree) isBlob(ctx context.Context, name string, blob git.Blob) bool {
	const link = "120000"
	if blob.Mode == link {
		target, err := os.Readlink(w.abs(name))
		return err == nil && blobID(blob.ID, int64(len(target)), func(h hash.Hash) error {
			_, err := io.WriteString(h, target)
			return err
		})
	}
	file, err := regular.OpenNoFollow(w.abs(name))
	if err != nil {
		return false
	}
	defer file.Close()
	info, err := file.Stat()
	return err == nil && blobID(blob.ID, info.Size(), func(h hash.Hash) error {
		return hashAll(ctx, h, file, make([]byte, 64<<10))
	})
}

// blobID reports whether the content that write gives has the id.
func blobID(id string, size int64, write func(hash.Hash) error) bool {
	h := sha1.New()
	if len(id) == hex.EncodedLen(sha256.Size) {
		h = sha256.New()
	}
	fmt.Fprintf(h, "blob %d\x00", size)
	return write(h) == nil && hex.EncodeToString(h.Sum(nil)) == id
}

// isBlobOf reports whether a content is the blob.
func isBlobOf(content []byte, blob git.Blob) bool {
	return blobID(blob.ID, int64(len(content)), func(h hash.Hash) error {
		_, err := h.Write(content)
		return err
	})
}
