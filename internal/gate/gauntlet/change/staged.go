package change

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
)

// Staged is a digest of what the index has beyond a commit, or of all that it has where the
// commit is empty. Times and other notes of git's in it do not count.
func (w *Worktree) Staged(ctx context.Context, head string) (string, error) {
	hash := sha256.New()
	if err := w.repo.Staged(ctx, hash, head); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}
