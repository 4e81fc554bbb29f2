package daemonapi

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

func TestMain(m *testing.M) {
	environtest.Clean()
	goleak.VerifyTestMain(m)
}

func TestAnswers(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want string // status, version and body
		err  error
	}{
		"plain":               {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", "200 '' {}", nil},
		"old, bare newlines":  {"HTTP/1.0 204\ncontent-length:0\n\n", "204 '' ", nil},
		"version":             {"HTTP/1.1 404 Not Found\r\nStopgate-Version: v3 \r\ncontent-LENGTH: 1\r\n\r\nxyz", "404 'v3' x", nil},
		"the same length":     {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx", "200 '' x", nil},
		"chunks":              {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0a\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n", "200 '' abc0123456789", nil},
		"no chunk":            {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "200 '' ", nil},
		"nothing":             {"", "", ErrCut},
		"half a status":       {"HTTP/1.1 200", "", ErrCut},
		"half a head":         {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n", "", ErrCut},
		"half a body":         {"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{}", "200 '' {}", ErrCut},
		"half a chunk":        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab", "200 '' ab", ErrCut},
		"no last chunk":       {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", "200 '' abc", ErrCut},
		"half the last chunk": {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n", "200 '' abc", ErrCut},
		"other protocol":      {"SSH-2.0-OpenSSH\r\n\r\n", "", ErrAnswer},
		"other version":       {"HTTP/2 200 OK\r\n\r\n", "", ErrAnswer},
		"no status":           {"HTTP/1.1 +20 OK\r\nContent-Length: 0\r\n\r\n", "", ErrAnswer},
		"interim":             {"HTTP/1.1 100 Continue\r\n\r\n", "", ErrAnswer},
		"no length":           {"HTTP/1.1 200 OK\r\n\r\n{}", "", ErrAnswer},
		"both":                {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "", ErrAnswer},
		"two lengths":         {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", "", ErrAnswer},
		"negative length":     {"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "", ErrAnswer},
		"huge length":         {"HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775808\r\n\r\n", "", ErrAnswer},
		"compressed":          {"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", "", ErrAnswer},
		"no colon":            {"HTTP/1.1 200 OK\r\nwhat\r\n\r\n", "", ErrAnswer},
		"chunk too long":      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n", "200 '' a", ErrAnswer},
		"chunk without size":  {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", "200 '' ", ErrAnswer},
		"negative chunk":      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n", "200 '' ", ErrAnswer},
		"huge chunk":          {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8000000000000000\r\n", "200 '' ", ErrAnswer},
		"endless head":        {"HTTP/1.1 200 OK\r\n" + strings.Repeat("a: b\r\n", 100_000), "", ErrAnswer},
		"endless line":        {"HTTP/1.1 200 " + strings.Repeat("x", 1<<20), "", ErrAnswer},
	} {
		for how, r := range map[string]io.Reader{"at once": strings.NewReader(test.text), "byte by byte": iotest.OneByteReader(strings.NewReader(test.text))} {
			got, err := parsed(r)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s, %s: %s", name, how, diff)
			}
			if (err == nil) != (test.err == nil) || !errors.Is(err, test.err) {
				t.Errorf("%s, %s: error %v, want %v", name, how, err, test.err)
			}
		}
	}
}

func parsed(r io.Reader) (string, error) {
	a, err := readAnswer(bufio.NewReader(r))
	if err != nil {
		return "", err
	}
	body, err := io.ReadAll(a.body)
	return fmt.Sprintf("%d '%s' %s", a.status, a.version, body), err
}

func FuzzAnswer(f *testing.F) {
	f.Add("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nStopgate-Version: v\r\n\r\n{}")
	f.Add("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0a\r\n0123456789\r\n0\r\n\r\n")
	f.Add("HTTP/1.0 404 Not Found\nContent-Length: 9\n\n{\"code\":1")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := parsed(strings.NewReader(text))
		slow, slowErr := parsed(iotest.OneByteReader(strings.NewReader(text)))
		if got != slow || fmt.Sprint(err) != fmt.Sprint(slowErr) {
			t.Errorf("at once %q, %v; byte by byte %q, %v", got, err, slow, slowErr)
		}
		if err != nil && !errors.Is(err, ErrCut) && !errors.Is(err, ErrAnswer) {
			t.Errorf("error %v", err)
		}
		if len(got) > len(text)+20 {
			t.Errorf("%d bytes out of %d", len(got), len(text))
		}
	})
}

func FuzzEvents(f *testing.F) {
	f.Add(": stopgate\n\nid: 1\ndata: {\"position\":1}\n\nevent: error\ndata: {\"code\":\"x\",\"error\":\"y\"}\n\n")
	f.Add("data: {}\r\n\r\ndata:{}\n\n")
	f.Fuzz(func(t *testing.T, text string) {
		r := eventReader{bufio.NewReader(strings.NewReader(text)), func() {}}
		for n := 0; ; n++ {
			_, err := r.next()
			if err != nil {
				return
			}
			if n > len(text) {
				t.Fatal("more events than bytes")
			}
		}
	})
}
