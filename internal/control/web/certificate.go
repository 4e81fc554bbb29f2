package web

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/sys/atomicfile"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// certificateTime is how long our own certificate is good for: browsers take none that is for longer.
const certificateTime = 397 * 24 * time.Hour

// identity is the certificate that a door shows: a person's, which is read again when its files have
// changed, or our own, which is made anew before it expires.
type identity struct {
	wanted remote
	listen string // the host that the door listens on
	host   string // the name by which a phone comes here
	ours   string // the file of our own
	log    *slog.Logger
	now    func() time.Time

	mu      sync.Mutex
	cert    *tls.Certificate
	read    [2]stamp // the person's files when they were read last
	trouble string   // why the newest one was not taken
}

// stamp tells whether a file is as it was.
type stamp struct {
	changed time.Time
	size    int64
}

func newIdentity(wanted remote, listen, ours string, o Options) (*identity, error) {
	i := &identity{wanted: wanted, listen: listen, ours: ours, log: o.Log, now: o.Now}
	i.read = i.stamps()
	cert, err := i.load()
	if err != nil {
		return nil, err
	}
	i.cert = cert
	i.host, err = i.reachable(cert.Leaf)
	return i, err
}

// get implements tls.Config.GetCertificate.
func (i *identity) get(*tls.ClientHelloInfo) (*tls.Certificate, error) { return i.current(), nil }

// current is the certificate as it is now. One that cannot be used is not taken: the last one stays.
func (i *identity) current() *tls.Certificate {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.wanted.Cert == "" && lasts(i.cert.Leaf, i.now()) {
		return i.cert
	}
	stamps := i.stamps()
	if i.wanted.Cert != "" && stamps == i.read {
		return i.cert
	}

	i.read = stamps
	cert, err := i.load()
	if err == nil && cert.Leaf.VerifyHostname(i.host) != nil {
		err = fmt.Errorf("the certificate is not for %s but for %s", i.host, namesOf(cert.Leaf))
	}

	if err == nil {
		i.cert, i.trouble = cert, ""
		return i.cert
	}
	if i.trouble != err.Error() {
		i.trouble = err.Error()
		i.log.Error("cannot take the web page's new certificate", "error", err)
	}
	return i.cert
}

func (i *identity) stamps() (all [2]stamp) {
	for n, path := range []string{i.wanted.Cert, i.wanted.Key} {
		if info, err := os.Stat(path); err == nil {
			all[n] = stamp{info.ModTime(), info.Size()}
		}
	}
	return all
}

// load reads a person's certificate, or our own, which is made once and kept.
func (i *identity) load() (*tls.Certificate, error) {
	if i.wanted.Cert != "" || i.wanted.Key != "" {
		cert, err := tls.LoadX509KeyPair(i.wanted.Cert, i.wanted.Key)
		if err != nil {
			return nil, badRequest("--cert %s, --key %s: %v", i.wanted.Cert, i.wanted.Key, err)
		}
		return &cert, nil
	}

	now, names := i.now(), names(i.listen)
	if len(names) == 0 {
		return nil, badRequest("--listen %s: this machine has no address that others can reach; name the host, for example --listen 192.168.1.5:8443", i.wanted.Address)
	}
	if cert, err := tls.LoadX509KeyPair(i.ours, i.ours); err == nil && good(cert.Leaf, names, now) {
		return &cert, nil
	}

	text, err := makeCertificate(names, now)
	if err != nil {
		return nil, err
	}
	if err := atomicfile.Write(i.ours, text, 0o600); err != nil {
		return nil, err
	}
	cert, err := tls.X509KeyPair(text, text)
	return &cert, err
}

// good reports whether a certificate is valid for a while yet, and for all names.
func good(leaf *x509.Certificate, names []string, now time.Time) bool {
	return now.After(leaf.NotBefore) && lasts(leaf, now) &&
		!slices.ContainsFunc(names, func(name string) bool { return leaf.VerifyHostname(name) != nil })
}

// lasts reports whether a certificate does not expire soon.
func lasts(leaf *x509.Certificate, now time.Time) bool {
	const while = 30 * 24 * time.Hour
	return now.Add(while).Before(leaf.NotAfter)
}

// names are what this machine may be called by others: the host that it listens on, or all addresses that
// it has.
func names(host string) []string {
	if isOne(host) {
		return []string{host}
	}
	var all []string
	addresses, _ := net.InterfaceAddrs() // else by its name alone
	for _, a := range addresses {
		prefix, err := netip.ParsePrefix(a.String())
		if err == nil && !prefix.Addr().IsLoopback() && !prefix.Addr().IsLinkLocalUnicast() {
			all = append(all, prefix.Addr().String())
		}
	}
	slices.SortStableFunc(all, func(a, b string) int { return strings.Count(a, ":") - strings.Count(b, ":") }) // 192.168.1.2 before fd00::2
	if name, err := os.Hostname(); err == nil && name != "" {
		all = append(all, name)
	}
	return all
}

// isOne reports whether a host to listen on is one, and not all that the machine has.
func isOne(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host != "" && (err != nil || !ip.IsUnspecified())
}

// reachable is the name by which a phone comes here, for which the certificate must be.
func (i *identity) reachable(leaf *x509.Certificate) (string, error) {
	if isOne(i.listen) {
		if leaf.VerifyHostname(i.listen) != nil {
			return "", badRequest("--cert %s is not for %s: it is for %s; listen at a name that it has, with --listen NAME:PORT", i.wanted.Cert, i.listen, namesOf(leaf))
		}
		return i.listen, nil
	}
	if len(leaf.IPAddresses) > 0 {
		return leaf.IPAddresses[0].String(), nil
	}
	for _, name := range leaf.DNSNames { // a person's own certificate, or a machine without addresses
		if !strings.Contains(name, "*") && leaf.VerifyHostname(name) == nil {
			return name, nil
		}
	}
	return "", badRequest("--cert %s does not say what this machine is called: it is for %s; name the host, with --listen NAME:PORT", i.wanted.Cert, namesOf(leaf))
}

// namesOf are the names that a certificate is for, for people.
func namesOf(leaf *x509.Certificate) string {
	all := slices.Clone(leaf.DNSNames)
	for _, ip := range leaf.IPAddresses {
		all = append(all, ip.String())
	}
	if len(all) == 0 {
		return "no name"
	}
	return plain.Clip(plain.Line(strings.Join(all, ", ")), 300)
}

func makeCertificate(names []string, now time.Time) ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}

	made := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "stopgate"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(certificateTime),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			made.IPAddresses = append(made.IPAddresses, ip)
		} else {
			made.DNSNames = append(made.DNSNames, name)
		}
	}

	der, err := x509.CreateCertificate(rand.Reader, made, made, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}

	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return append(text, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})...), nil
}

// fingerprint is what a browser shows of a certificate that it does not know.
func fingerprint(cert *tls.Certificate) string {
	sum := sha256.Sum256(cert.Leaf.Raw)
	var parts []string
	for _, b := range sum {
		parts = append(parts, fmt.Sprintf("%02X", b))
	}
	return strings.Join(parts, ":")
}
