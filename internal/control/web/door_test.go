package web

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/sys/checktest"
)

// certificate writes a person's certificate for names, and returns its file, which has the key too.
func (s *scene) certificate(name string, names ...string) string {
	s.t.Helper()
	text, err := makeCertificate(names, s.clock())
	check(s.t, err)
	path := filepath.Join(s.t.TempDir(), name)
	checktest.Write(s.t, path, string(text))
	return path
}

// taken is an address that another program listens at.
func taken(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	t.Cleanup(func() { l.Close() })
	return l.Addr().String()
}

// shown is the certificate that the door for other machines shows.
func (s *scene) shown() *x509.Certificate {
	s.t.Helper()
	_, way := s.site.ways()
	conn, err := tls.Dial("tcp", way.address, &tls.Config{InsecureSkipVerify: true})
	check(s.t, err)
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates[0]
}

// A new address, port or certificate that does not work leaves the door as it was.
func TestIssue18ADoorStaysUntilTheNewOneIsOpen(t *testing.T) {
	s := newScene(t)
	ui := s.ui(daemonapi.UIControl{Listen: "127.0.0.1:0"})
	v := s.overTLS(ui)
	v.get(ui.Link)
	address := strings.TrimPrefix(ui.Remote, "https://")
	text := filepath.Join(t.TempDir(), "text")
	checktest.Write(t, text, "no certificate")
	for name, c := range map[string]daemonapi.UIControl{
		"another machine's address": {Listen: "192.0.2.1:8443"},
		"a port in use":             {Listen: taken(t)},
		"no certificate":            {Listen: address, Cert: text, Key: text},
		"another's certificate":     {Listen: address, Cert: s.certificate("a.pem", "shop.example"), Key: text},
	} {
		if _, err := s.site.Control(t.Context(), c); err == nil || !v.in() {
			t.Errorf("%s: %v", name, err)
		}
	}
	if on := s.site.book.get().Remote; on.Address != address || on.Cert != "" {
		t.Errorf("%+v", on)
	}
	own := s.certificate("b.pem", "127.0.0.1")
	if again := s.ui(daemonapi.UIControl{Listen: address, Cert: own, Key: own}); again.Remote != ui.Remote || !v.in() {
		t.Errorf("another certificate at the same port: %+v", again)
	}
}

// A certificate that does not fit the address is refused, and the error names what it is for.
func TestIssue18ACertificateFitsTheAddress(t *testing.T) {
	s := newScene(t)
	for name, c := range map[string]struct {
		listen string
		names  []string
		want   string // the address, or what the error says
	}{
		"the address":          {"127.0.0.1:0", []string{"127.0.0.1"}, "https://127.0.0.1:"},
		"a name":               {":0", []string{"*.example", "shop.example"}, "https://shop.example:"},
		"an address of all":    {"0.0.0.0:0", []string{"shop.example", "192.0.2.7"}, "https://192.0.2.7:"},
		"another address":      {"127.0.0.1:0", []string{"shop.example", "192.0.2.7"}, "is not for 127.0.0.1: it is for shop.example, 192.0.2.7"},
		"only with a wildcard": {":0", []string{"*.shop.example"}, "it is for *.shop.example"},
		"none":                 {":0", nil, "it is for no name"},
	} {
		t.Run(name, func(t *testing.T) {
			cert := s.certificate("c.pem", c.names...)
			ui, err := s.site.Control(t.Context(), daemonapi.UIControl{Listen: c.listen, Cert: cert, Key: cert})
			if strings.HasPrefix(c.want, "https") {
				check(t, err)
				host, _ := url.Parse(ui.Remote)
				if _, way := s.site.ways(); !strings.HasPrefix(ui.Link, c.want) || !way.is(host.Host) {
					t.Errorf("%+v", ui)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v", err)
			}
		})
	}
}

// A certificate that was renewed is shown from then on; one that is half written, or for another host, is
// not.
func TestIssue18ARenewedCertificateIsTaken(t *testing.T) {
	s := newScene(t)
	own := s.certificate("d.pem", "127.0.0.1")
	s.ui(daemonapi.UIControl{Listen: "127.0.0.1:0", Cert: own, Key: own})
	first := s.shown()
	renew := func(text string, hours int) {
		checktest.Write(t, own, text)
		later := time.Now().Add(time.Duration(hours) * time.Hour)
		check(t, os.Chtimes(own, later, later))
	}
	renew("-----BEGIN CERT", 1)
	if !s.shown().Equal(first) {
		t.Error("half a certificate was taken")
	}
	renew(checktest.Read(t, s.certificate("e.pem", "shop.example")), 2)
	if !s.shown().Equal(first) {
		t.Error("a certificate for another host was taken")
	}
	renew(checktest.Read(t, s.certificate("f.pem", "127.0.0.1", "shop.example")), 3)
	_, way := s.site.ways()
	if got := s.shown(); got.Equal(first) || !way.is(net.JoinHostPort("shop.example", portIn(way.address))) {
		t.Errorf("the old certificate: %v", got.DNSNames)
	}
}

func portIn(address string) string {
	_, port, _ := net.SplitHostPort(address)
	return port
}

// Our own certificate is made anew before it expires, while the daemon runs.
func TestIssue18OurOwnCertificateIsRenewed(t *testing.T) {
	s := newScene(t)
	s.ui(daemonapi.UIControl{Listen: "127.0.0.1:0"})
	first := s.shown()
	s.passes(certificateTime - 24*time.Hour)
	if got := s.shown(); got.Equal(first) || !got.NotAfter.After(first.NotAfter) {
		t.Errorf("until %v", got.NotAfter)
	}
}

// Where the port is taken after a restart, the address on record is the one that is used: hooks read it.
func TestIssue18TheAddressOnRecordIsTheOneInUse(t *testing.T) {
	s := newScene(t)
	s.signedIn()
	before := s.site.URL()
	s.end()
	l, err := net.Listen("tcp", strings.TrimPrefix(before, "http://"))
	check(t, err)
	defer l.Close()
	s.begin()
	if url := s.site.URL(); url == "" || url == before || daemonapi.PageURL(s.state) != url {
		t.Errorf("%s on record, %s in use, before %s", daemonapi.PageURL(s.state), url, before)
	}
}

// While a door waits for the requests that are under way, all else goes on: notifications ask for links.
func TestIssue18ShuttingHoldsNothing(t *testing.T) {
	s := newScene(t)
	v := s.signedIn()
	host := strings.TrimPrefix(v.base, "http://")
	conn, err := net.Dial("tcp", host)
	check(t, err)
	defer conn.Close()
	_, err = conn.Write([]byte("POST /enter HTTP/1.1\r\nHost: " + host + "\r\nOrigin: " + v.base + "\r\nContent-Length: 10\r\n\r\n"))
	check(t, err)
	v.in() // which comes after it
	off := make(chan error, 1)
	go func() {
		_, err := s.site.Control(context.Background(), daemonapi.UIControl{Off: true})
		off <- err
	}()
	checktest.Eventually(t, "the site is off", func() bool { return s.site.URL() == "" })
	select {
	case <-off:
		t.Fatal("the address was not told while the door was being shut")
	default:
	}
	conn.Close()
	check(t, <-off)
}

// When the end of the site was waited for, no page is being read any more, and nothing can begin.
func TestIssue18NothingIsReadAfterTheEnd(t *testing.T) {
	s := newScene(t)
	events := s.signedIn().watch("/inbox")
	next(t, events, "main")
	hold := make(chan struct{})
	s.plane.set(func() { s.plane.hold = hold })
	checktest.Eventually(t, "the page is read", func() bool { return s.plane.inside.Load() > 0 })
	s.stop()
	time.AfterFunc(100*time.Millisecond, func() { close(hold) })
	s.site.Wait()
	if n := s.plane.inside.Load(); n > 0 {
		t.Errorf("%d pages are being read", n)
	}
	if s.site.run(func(context.Context) { t.Error("it runs") }) {
		t.Error("something began after the end")
	}
}
