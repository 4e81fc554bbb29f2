package member

import (
	"bytes"
	"fmt"
	"path/filepath"

	"github.com/nats-io/nats.go"

	"github.com/stopgate/stopgate/internal/sys/atomicfile"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

const credentialsFile = "nats.creds"

// SaveCredentials copies the credentials of an existing cluster: a file of NATS, or the seed of an nkey.
func SaveCredentials(stateDir, from string) error {
	text, err := regular.Read(from, mostIdentity)
	if err != nil {
		return err
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return fmt.Errorf("%s is empty: give a credentials file of NATS, or the seed of an nkey", from)
	}
	if err := makeDir(stateDir); err != nil {
		return err
	}
	return atomicfile.Write(credentialsPath(stateDir), text, 0o600)
}

func credentialsPath(stateDir string) string { return filepath.Join(Dir(stateDir), credentialsFile) }

// credentials are those that SaveCredentials kept.
func credentials(stateDir string) (nats.Option, error) {
	path := credentialsPath(stateDir)
	text, err := readSecret(path)
	if err != nil {
		return nil, fmt.Errorf("the credentials of the cluster: %w", err)
	}
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("SU")) {
		return nats.NkeyOptionFromSeed(path)
	}
	return nats.UserCredentials(path), nil
}
