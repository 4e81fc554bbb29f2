package people

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nicholas-fedor/shoutrrr/pkg/router"

	"github.com/stopgate/stopgate/internal/project/config"
)

// receiver is a service on this machine.
type receiver struct {
	*httptest.Server
	mu   sync.Mutex
	got  []string // method, path, title and body of each request
	code int      // what it answers
}

func receive(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{code: http.StatusOK}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.got = append(r.got, strings.TrimSpace(q.Method+" "+q.URL.Path+" "+q.Header.Get("Title"))+"\n"+string(body))
		w.WriteHeader(r.code)
		_, _ = io.WriteString(w, "{}")
	}))
	t.Cleanup(func() {
		r.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	return r
}

func (r *receiver) host() string { return r.Listener.Addr().String() }

func (r *receiver) answer(code int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.code = code
}

func (r *receiver) read() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.got
}

var decided = Message{Title: "Agent needs attention: fix", Text: "It waits.", Project: "/p", Decision: "d-1"}

const decidedBody = "It waits.\nAnswer with: stopgate decision answer d-1 …\nProject: /p"

func TestServices(t *testing.T) {
	for _, tt := range []struct{ name, address, want string }{
		{"generic", "generic://HOST/hook?disabletls=yes", "POST /hook\nAgent needs attention: fix\n" + decidedBody},
		{"generic in JSON", "generic://HOST/hook?disabletls=yes&template=json", "POST /hook\n" +
			`{"message":"It waits.\nAnswer with: stopgate decision answer d-1 …\nProject: /p","title":"Agent needs attention: fix"}`},
		{"generic, by its own URL", "generic+http://HOST/hook", "POST /hook\nAgent needs attention: fix\n" + decidedBody},
		{"ntfy", "ntfy://HOST/topic?scheme=http", "POST /topic Agent needs attention: fix\n" + decidedBody},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := receive(t)
			check(t, deliver(t.Context(), strings.ReplaceAll(tt.address, "HOST", r.host()), decided))
			if diff := cmp.Diff([]string{tt.want}, r.read()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The configuration takes the names of these services, and no others are known.
func TestServicesOfTheConfiguration(t *testing.T) {
	known := map[string]bool{}
	for _, name := range new(router.ServiceRouter).ListServices() {
		known[name] = true
	}
	for _, name := range config.Services() {
		if !known[name] {
			t.Errorf("shoutrrr does not know %s", name)
		}
		delete(known, name)
	}
	if len(known) > 0 {
		t.Errorf("the configuration does not know %v", known)
	}
}

func TestFaultyAddresses(t *testing.T) {
	for address, want := range map[string]string{
		"ntfy://ntfy.sh/":               "topic is required",
		"nonsense://secret-token":       `unknown service: "nonsense"`,
		"ntfy+https://ntfy.sh/secret":   "custom URLs are not supported by service: remove what follows the +",
		"ntfy://%zz/secret":             `parse "…": invalid URL escape "%zz"`,
		"slack://secret-token@nonsense": "",
		"telegram://secret@telegram":    "",
		"generic+://":                   "",
	} {
		t.Run(serviceOf(address), func(t *testing.T) {
			err := safely(t.Context(), func(ctx context.Context) error { return deliver(ctx, address, decided) })
			switch {
			case err == nil:
				t.Error("it was sent")
			case strings.Contains(err.Error(), "secret"), want != "" && err.Error() != want:
				t.Errorf("it says %q, want %q", err, want)
			}
		})
	}
}

// What cannot have been sent is tried again, and nothing else.
func TestUnsent(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	check(t, closed.Close())
	broken := receive(t)
	broken.answer(http.StatusBadGateway)
	for address, want := range map[string]bool{
		"generic://" + closed.Addr().String() + "/?disabletls=yes":       true,
		"ntfy://" + closed.Addr().String() + "/t?scheme=http":            true,
		"smtp://" + closed.Addr().String() + "/?from=a@b.c&to=d@e.f":     true,
		"matrix://:tok@" + closed.Addr().String() + "/?disableTLS=yes":   false, // one request after the other
		"generic://" + broken.host() + "/?disabletls=yes":                false,
		"ntfy://" + broken.host() + "/t?scheme=http":                     false,
		"generic://" + broken.host() + "/?disabletls=no&secret=dial+tcp": false, // it speaks no TLS
	} {
		err := give(address, decided)
		if err == nil {
			t.Errorf("%s: it was sent", address)
			continue
		}
		if got := unsent(err, serviceOf(address)); got != want {
			t.Errorf("%s: unsent is %v after %v", address, got, err)
		}
	}
}

func TestTriedAgain(t *testing.T) {
	refused := &url.Error{Op: "Post", URL: "x", Err: &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}}
	cut := &url.Error{Op: "Post", URL: "x", Err: &net.OpError{Op: "read", Err: syscall.ECONNRESET}}
	for _, tt := range []struct {
		name, service string
		answers       []error
		tries         int
		want          error
	}{
		{"taken", "ntfy", []error{nil}, 1, nil},
		{"taken at last", "ntfy", []error{refused, refused, nil}, 3, nil},
		{"never there", "ntfy", []error{refused, refused, refused, nil}, 3, refused},
		{"refused by its text", "generic", []error{errors.New(`Post "x": dial tcp 127.0.0.1:1: connect: connection refused`), nil}, 2, nil},
		{"cut off", "ntfy", []error{cut, nil}, 1, cut},
		{"cut off later", "ntfy", []error{refused, cut, nil}, 2, cut},
		{"one of several", "telegram", []error{refused, nil}, 1, refused},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tries := 0
				err := whileUnsent(t.Context(), tt.service, func() error { tries++; return tt.answers[tries-1] })
				if err != tt.want || tries != tt.tries {
					t.Errorf("%v after %d tries", err, tries)
				}
			})
		})
	}
}

func TestTriedAgainNoLongerThanItMay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		begun, tries := time.Now(), 0
		err := whileUnsent(ctx, "ntfy", func() error {
			tries++
			return fmt.Errorf("no: %w", &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED})
		})
		if err == nil || tries != 1 || time.Since(begun) > time.Second {
			t.Errorf("%v after %d tries and %v", err, tries, time.Since(begun))
		}
	})
}
