package member

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/stopgate/stopgate/internal/sys/atomicfile"
	"github.com/stopgate/stopgate/internal/sys/regular"
	"github.com/stopgate/stopgate/internal/sys/statefile"
)

// HubDir is where everything of this machine's hub is.
func HubDir(stateDir string) string { return filepath.Join(Dir(stateDir), "hub") }

const (
	hubKeyFile         = "key.pem"
	hubCertificateFile = "certificate.pem"
	membersFile        = "members.json"
	// mostMembers is enough for 10,000 members.
	mostMembers = 4 << 20
)

// RequestCertificate makes the key of this machine's hub where there is none, and returns the request for
// its certificate.
func RequestCertificate(stateDir string) (string, error) {
	key, err := loadKey(hubKeyPath(stateDir))
	if errors.Is(err, fs.ErrNotExist) {
		key, err = makeHubKey(stateDir)
	}
	if err != nil {
		return "", err
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, key)
	if err != nil {
		return "", err
	}
	return encode("CERTIFICATE REQUEST", der), nil
}

func hubKeyPath(stateDir string) string { return filepath.Join(HubDir(stateDir), hubKeyFile) }

func makeHubKey(stateDir string) (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	if err := makeDir(stateDir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(HubDir(stateDir), 0o700); err != nil {
		return nil, err
	}
	return key, saveKey(hubKeyPath(stateDir), key)
}

// SaveHub keeps what a machine needs to run a hub: its certificate, and the members that are known.
func SaveHub(stateDir, certificate string, members []Record) error {
	if err := atomicfile.Write(filepath.Join(HubDir(stateDir), hubCertificateFile), []byte(certificate), 0o600); err != nil {
		return err
	}
	return SaveMembers(stateDir, members)
}

// SaveMembers keeps the members that a hub knows of, for a start at which the fleet's store cannot be read.
func SaveMembers(stateDir string, members []Record) error {
	return statefile.Write(filepath.Join(HubDir(stateDir), membersFile), members)
}

// LoadMembers are those that SaveMembers kept.
func LoadMembers(stateDir string) ([]Record, error) {
	path := filepath.Join(HubDir(stateDir), membersFile)
	members, err := statefile.Read[[]Record](path, mostMembers)
	for _, m := range members {
		err = errors.Join(err, m.Check())
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", path, err)
	}
	return members, nil
}

// HubCertificate is the certificate of this machine's hub with its key. The fleet's own comes with it, for
// those that know only its hash.
func HubCertificate(stateDir string, id Identity) (*tls.Certificate, error) {
	key, err := loadKey(hubKeyPath(stateDir))
	if err != nil {
		return nil, err
	}
	path := filepath.Join(HubDir(stateDir), hubCertificateFile)
	text, err := regular.ReadNoFollow(path, mostIdentity)
	if err != nil {
		return nil, err
	}
	leaf, err := parseCertificate(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	authority, err := id.Authority()
	if err != nil {
		return nil, err
	}
	if !key.PublicKey.Equal(leaf.PublicKey) {
		return nil, fmt.Errorf("%s is not for the key beside it", path)
	}
	return &tls.Certificate{Certificate: [][]byte{leaf.Raw, authority.Raw}, PrivateKey: key, Leaf: leaf}, nil
}
