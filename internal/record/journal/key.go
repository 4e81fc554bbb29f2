package journal

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/atomicfile"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

const (
	keyName = "key"
	keySize = 32
)

// Key returns the journal's secret for PromptHash. The first call makes it; all
// processes get the same one.
func (j *Journal) Key() ([]byte, error) {
	key, err := j.readKey()
	if errors.Is(err, fs.ErrNotExist) {
		key, err = j.makeKey()
	}
	if err != nil {
		return nil, j.explain(err)
	}
	return key, nil
}

func (j *Journal) readKey() ([]byte, error) {
	key, err := regular.Head(j.path(keyName), keySize+1)
	if err == nil && len(key) != keySize {
		return nil, fmt.Errorf("%s has %d bytes, not %d: delete it, and stopgate creates a new one",
			j.path(keyName), len(key), keySize)
	}
	return key, err
}

// makeKey looks again under the lock: another process may have been faster.
func (j *Journal) makeKey() ([]byte, error) {
	unlock, err := j.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	key, err := j.readKey()
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	key = make([]byte, keySize)
	rand.Read(key)
	return key, atomicfile.Write(j.path(keyName), key, 0o600)
}

// PromptHash returns a keyed hash of the prompt: the same for prompts that differ
// in white space only, which a terminal may change on the way.
func PromptHash(key []byte, prompt string) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(strings.Join(strings.Fields(prompt), " ")))
	return hex.EncodeToString(mac.Sum(nil))[:32]
}
