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
	"math/big"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/sys/atomicfile"
)

// certificateTime is how long our own certificate is good for: browsers take none that is for longer.
const certificateTime = 397 * 24 * time.Hour

// loadCertificate is a person's certificate, or our own, which is made once and kept.
func loadCertificate(wanted remote, host, ours string, now time.Time) (*tls.Certificate, error) {
	if wanted.Cert != "" || wanted.Key != "" {
		cert, err := tls.LoadX509KeyPair(wanted.Cert, wanted.Key)
		if err != nil {
			return nil, invalid("--cert %s, --key %s: %v", wanted.Cert, wanted.Key, err)
		}
		return &cert, nil
	}
	names := names(host)
	if cert, err := tls.LoadX509KeyPair(ours, ours); err == nil && good(cert.Leaf, names, now) {
		return &cert, nil
	}
	text, err := makeCertificate(names, now)
	if err != nil {
		return nil, err
	}
	if err := atomicfile.Write(ours, text, 0o600); err != nil {
		return nil, err
	}
	cert, err := tls.X509KeyPair(text, text)
	return &cert, err
}

// good reports whether a certificate will do for another while, and for all names.
func good(leaf *x509.Certificate, names []string, now time.Time) bool {
	const while = 30 * 24 * time.Hour
	return now.After(leaf.NotBefore) && now.Add(while).Before(leaf.NotAfter) &&
		!slices.ContainsFunc(names, func(name string) bool { return leaf.VerifyHostname(name) != nil })
}

// names are what this machine may be called by others: the host that it listens on, or all addresses that
// it has.
func names(host string) []string {
	if ip, err := netip.ParseAddr(host); host != "" && (err != nil || !ip.IsUnspecified()) {
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

// reachable is the name by which a phone comes here.
func reachable(host string, cert *tls.Certificate) string {
	if ip, err := netip.ParseAddr(host); host != "" && (err != nil || !ip.IsUnspecified()) {
		return host
	}
	for _, name := range cert.Leaf.DNSNames {
		if len(cert.Leaf.IPAddresses) == 0 && !strings.HasPrefix(name, "*") {
			return name // a person's own certificate
		}
	}
	if len(cert.Leaf.IPAddresses) > 0 {
		return cert.Leaf.IPAddresses[0].String()
	}
	return names(host)[0]
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
