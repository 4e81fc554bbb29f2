package member

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/nats-io/nkeys"

	"github.com/stopgate/stopgate/internal/sys/atomicfile"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

// MakeKey makes this machine's key where it has none, and returns the public part. The seed never leaves the
// machine. A join that was cut off is repeated with the same one.
func MakeKey(stateDir string) (public string, err error) {
	path := filepath.Join(Dir(stateDir), seedFile)
	if public, err = readKey(path); !errors.Is(err, fs.ErrNotExist) {
		return public, err
	}
	public, seed, err := NewKey()
	if err != nil {
		return "", err
	}
	if err := makeDir(stateDir); err != nil {
		return "", err
	}
	return public, atomicfile.Write(path, append(seed, '\n'), 0o600)
}

// NewKey makes a key: its public part, and the seed, which is the secret one.
func NewKey() (public string, seed []byte, err error) {
	pair, err := nkeys.CreateUser()
	if err == nil {
		seed, err = pair.Seed()
	}
	if err == nil {
		public, err = pair.PublicKey()
	}
	return public, seed, err
}

// Sign signs something with this machine's key, so that others know that it comes from here. A machine without a
// key, of a cluster that others run, signs nothing.
func Sign(stateDir string, text []byte) ([]byte, error) {
	seed, err := readSecret(filepath.Join(Dir(stateDir), seedFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	pair, err := nkeys.FromSeed(bytes.TrimSpace(seed))
	if err != nil {
		return nil, err
	}
	defer pair.Wipe()
	return pair.Sign(text)
}

// CheckSignature checks that the machine with a public key signed something.
func CheckSignature(key string, text, signature []byte) error {
	pair, err := nkeys.FromPublicKey(key)
	if err != nil {
		return err
	}
	return pair.Verify(text, signature)
}

// readKey is the public part of the key in a file.
func readKey(path string) (string, error) {
	seed, err := readSecret(path)
	if err != nil {
		return "", err
	}
	pair, err := nkeys.FromSeed(bytes.TrimSpace(seed))
	if err != nil {
		return "", fmt.Errorf("%s is not a key: %w", path, err)
	}
	return pair.PublicKey()
}

// readSecret reads a file that only its owner may read.
func readSecret(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("other users can read %s: run chmod 600 on it", path)
	}
	return regular.ReadNoFollow(path, mostIdentity)
}
