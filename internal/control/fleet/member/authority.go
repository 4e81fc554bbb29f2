package member

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"path/filepath"
	"time"

	"github.com/stopgate/stopgate/internal/sys/atomicfile"
)

// Authority is a fleet's certificate authority. Its key stays on the machine that made the fleet. It signs
// certificates of hubs and nothing else: having one is what makes a hub.
type Authority struct {
	Certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

const (
	authorityFile = "ca.key"
	// lifetime is that of all certificates: there is no way to replace them yet.
	lifetime = 20 * 365 * 24 * time.Hour
	// behind is how far the clock of another machine may be behind ours.
	behind = 48 * time.Hour
)

// NewAuthority makes a fleet's authority.
func NewAuthority(fleet string, now time.Time) (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := template("stopgate fleet "+fleet, now)
	template.IsCA, template.BasicConstraintsValid, template.MaxPathLenZero = true, true, true
	template.KeyUsage = x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	certificate, err := x509.ParseCertificate(der)
	return &Authority{certificate, key}, err
}

func template(name string, now time.Time) *x509.Certificate {
	serial, _ := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127)) // never fails
	return &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name},
		NotBefore: now.Add(-behind), NotAfter: now.Add(lifetime),
	}
}

// PEM is the certificate, for the members.
func (a *Authority) PEM() string { return encode("CERTIFICATE", a.Certificate.Raw) }

func encode(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

// Save keeps the key.
func (a *Authority) Save(stateDir string) error {
	if err := makeDir(stateDir); err != nil {
		return err
	}
	return saveKey(authorityPath(stateDir), a.key)
}

// saveKey keeps a private key for this user alone.
func saveKey(path string, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	return atomicfile.Write(path, []byte(encode("PRIVATE KEY", der)), 0o600)
}

func authorityPath(stateDir string) string { return filepath.Join(Dir(stateDir), authorityFile) }

// LoadAuthority reads the fleet's authority, which only the founding machine has: elsewhere the error is
// fs.ErrNotExist.
func LoadAuthority(stateDir string, id Identity) (*Authority, error) {
	key, err := loadKey(authorityPath(stateDir))
	if err != nil {
		return nil, err
	}
	certificate, err := id.Authority()
	if err != nil {
		return nil, err
	}
	if !key.PublicKey.Equal(certificate.PublicKey) {
		return nil, fmt.Errorf("%s is not the key of the fleet %s", authorityPath(stateDir), id.Fleet)
	}
	return &Authority{certificate, key}, nil
}

// loadKey reads a private key that saveKey kept.
func loadKey(path string) (*ecdsa.PrivateKey, error) {
	text, err := readSecret(path)
	if err != nil {
		return nil, err
	}
	key, err := parseKey(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return key, nil
}

func parseKey(text []byte) (*ecdsa.PrivateKey, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New("it is not a private key")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	ours, ok := key.(*ecdsa.PrivateKey)
	if !ok {
		return nil, errors.New("it is a private key of another kind")
	}
	return ours, nil
}

// Authority is the fleet's certificate.
func (id Identity) Authority() (*x509.Certificate, error) { return parseCertificate(id.CA) }

func parseCertificate(text string) (*x509.Certificate, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, errors.New("it is not a certificate")
	}
	return x509.ParseCertificate(block.Bytes)
}

// Sign makes the certificate of a hub, for the public key of a request.
func (a *Authority) Sign(hub Hub, number int, request string, now time.Time) (string, error) {
	block, _ := pem.Decode([]byte(request))
	if block == nil {
		return "", errors.New("the request for a certificate is not one")
	}

	asked, err := x509.ParseCertificateRequest(block.Bytes)
	if err == nil {
		err = asked.CheckSignature()
	}
	if err != nil {
		return "", err
	}

	template := template(HubName(number), now)
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	if ip := net.ParseIP(hub.Host); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{hub.Host}
	}

	der, err := x509.CreateCertificate(rand.Reader, template, a.Certificate, asked.PublicKey, a.key)
	if err != nil {
		return "", err
	}
	return encode("CERTIFICATE", der), nil
}

// Pool has the fleet's certificate alone.
func (id Identity) Pool() (*x509.CertPool, error) {
	certificate, err := id.Authority()
	if err != nil {
		return nil, fmt.Errorf("the fleet's certificate: %w", err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(certificate)
	return pool, nil
}

// Fingerprint is what a token says of a certificate.
func Fingerprint(certificate *x509.Certificate) []byte {
	sum := sha256.Sum256(certificate.Raw)
	return sum[:]
}

// pinned is a TLS configuration for who knows the hash of the fleet's certificate and nothing else. The hub
// sends the certificate.
func pinned(hub Hub, fingerprint []byte) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13,
		//nolint:gosec // VerifyConnection does more
		InsecureSkipVerify: true,
		VerifyConnection: func(state tls.ConnectionState) error {
			pool, known := x509.NewCertPool(), false
			for _, certificate := range state.PeerCertificates {
				if bytes.Equal(Fingerprint(certificate), fingerprint) {
					pool.AddCert(certificate)
					known = true
				}
			}
			if !known { // what else is wrong with it would mislead
				return fmt.Errorf("%s is %w", hub.Address(), errNotPinned)
			}
			_, err := state.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: pool, DNSName: hub.Host})
			if err != nil {
				return fmt.Errorf("%s is %w: %w", hub.Address(), errNotPinned, err)
			}
			return nil
		},
	}
}

// errNotPinned says that a server has no certificate of the fleet that was expected.
var errNotPinned = errors.New("not a hub of the fleet that the token is for")
