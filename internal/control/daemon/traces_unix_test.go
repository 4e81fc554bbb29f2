//go:build unix

package daemon

import (
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	collectorpb "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/stopgate/stopgate/internal/control/nudge"
	"github.com/stopgate/stopgate/internal/project/config"
)

// otlp is a receiver of traces.
type otlp struct {
	*httptest.Server
	mu      sync.Mutex
	spans   []*tracepb.Span
	headers http.Header
	got     chan struct{}
}

func newOTLP(t *testing.T) *otlp {
	t.Helper()
	o := &otlp{got: make(chan struct{}, 1)}
	o.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var request collectorpb.ExportTraceServiceRequest
		if err == nil {
			err = proto.Unmarshal(body, &request)
		}
		if err != nil || r.URL.Path != "/v1/traces" {
			t.Errorf("%s: %v", r.URL, err)
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		o.headers = r.Header
		for _, resource := range request.ResourceSpans {
			for _, scope := range resource.ScopeSpans {
				o.spans = append(o.spans, scope.Spans...)
			}
		}
		nudge.Reader(o.got)
	}))
	t.Cleanup(o.Close)
	return o
}

// tree waits for so many spans, and draws each as PARENT > NAME, sorted.
func (o *otlp) tree(t *testing.T, count int) (lines []string) {
	t.Helper()
	for late := time.After(watchdog); ; {
		o.mu.Lock()
		enough := len(o.spans) >= count
		o.mu.Unlock()
		if enough {
			break
		}
		select {
		case <-o.got:
		case <-late:
			t.Fatalf("%d spans of %d", len(o.spans), count)
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	names := map[string]string{}
	for _, s := range o.spans {
		names[hex.EncodeToString(s.SpanId)] = s.Name
	}
	for _, s := range o.spans {
		lines = append(lines, names[hex.EncodeToString(s.ParentSpanId)]+" > "+s.Name)
	}
	slices.Sort(lines)
	return lines
}

// A receiver sees exactly the stops that the daemon followed, each as a tree: the hook, its keepers, their
// gates.
func TestTracesOfADaemon(t *testing.T) {
	receiver := newOTLP(t)
	token := filepath.Join(t.TempDir(), "token")
	check(t, os.WriteFile(token, []byte("Bearer secret\n"), 0o600))
	r, log := aDay(t, fmt.Sprintf("traces:\n  endpoint: %s\n  headers: [{name: Authorization, file: %s}]\n", receiver.URL, token))
	want := []string{
		" > hook Stop", " > hook Stop", " > hook Stop", " > hook SubagentStop",
		"hook Stop > keeper gates", "hook Stop > keeper gates", "hook Stop > keeper gates",
		"hook Stop > keeper supervisor", "hook Stop > keeper supervisor", "hook Stop > keeper supervisor",
		"keeper gates > gate lint", "keeper gates > gate lint", "keeper gates > gate lint",
		"keeper gates > gate test", "keeper gates > gate test", "keeper gates > gate test",
	}
	if got := receiver.tree(t, len(want)); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	r.stop(t)
	if receiver.headers.Get("Authorization") != "Bearer secret" || strings.Contains(log.String(), "secret") {
		t.Errorf("%v\n%s", receiver.headers, log)
	}
	if got := receiver.tree(t, len(want)); len(got) != len(want) {
		t.Errorf("%d spans after the end", len(got))
	}
}

// A thousand stops at once, to a receiver that is not there: none is lost for the metrics, all are counted as
// dropped, the log has one line, and the daemon answers all the while.
func TestAThousandStopsWithoutAReceiver(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	check(t, listener.Close())
	r, log := aDay(t, "traces: {endpoint: \"http://"+listener.Addr().String()+"\"}\n")
	before := r.scrape(t).value("stopgate_stops_total")
	for range 999 {
		answer(t, r.opts.journalDir(), aStop("allow"))
	}
	r.read(t, answer(t, r.opts.journalDir(), aStop("allow")))
	if got := r.scrape(t).value("stopgate_stops_total"); got != before+1000 {
		t.Errorf("%v stops count", got-before)
	}
	for begin := time.Now(); r.scrape(t).value("stopgate_traces_total", "result=dropped") != before+1000; {
		if time.Since(begin) > watchdog {
			t.Fatal("they are not dropped")
		}
	}
	if n := strings.Count(log.String(), "traces are dropped"); n != 1 {
		t.Errorf("%d lines in\n%s", n, log)
	}
	if got := r.scrape(t).value("stopgate_traces_total", "result=sent"); got != 0 {
		t.Errorf("%v sent", got)
	}
	status, err := r.Status(t.Context())
	if check(t, err); len(status.Trouble) != 1 || !strings.HasPrefix(status.Trouble[0], "traces: ") {
		t.Errorf("trouble: %q", status.Trouble)
	}
}

func TestSecretsOfHeaders(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		check(t, os.WriteFile(path, []byte(text), 0o600))
		check(t, os.Chmod(path, mode))
		return path
	}
	check(t, os.Mkdir(filepath.Join(dir, "folder"), 0o700))
	env := []string{"TOKEN=from env", "EMPTY=", "LINES=a\nsecret", "HOME=" + dir}
	file("mine", " from file \n", 0o600)
	for name, tt := range map[string]struct {
		header    config.Header
		want, err string
	}{
		"a variable":        {config.Header{Env: "TOKEN"}, "from env", ""},
		"none":              {config.Header{Env: "MISSING"}, "", "the environment variable MISSING of the daemon is empty or not set"},
		"an empty one":      {config.Header{Env: "EMPTY"}, "", "is empty or not set"},
		"lines":             {config.Header{Env: "LINES"}, "", "has more than one line"},
		"a file":            {config.Header{File: filepath.Join(dir, "mine")}, "from file", ""},
		"a file at home":    {config.Header{File: "~/mine"}, "from file", ""},
		"others read it":    {config.Header{File: file("group", "secret", 0o640)}, "", "run chmod 600"},
		"everyone reads it": {config.Header{File: file("all", "secret", 0o604)}, "", "run chmod 600"},
		"no file":           {config.Header{File: filepath.Join(dir, "missing")}, "", "no such file"},
		"a folder":          {config.Header{File: filepath.Join(dir, "folder")}, "", "folder"},
		"an empty file":     {config.Header{File: file("empty", "\n", 0o600)}, "", "is empty"},
		"binary":            {config.Header{File: file("binary", "secret\x00\xff", 0o600)}, "", "characters that a header cannot have"},
	} {
		tt.header.Name = "Authorization"
		target, err := traceTarget(config.Traces{Endpoint: "http://127.0.0.1:1", Headers: []config.Header{tt.header}}, env)
		switch {
		case tt.err == "" && (err != nil || target.Headers["Authorization"] != tt.want):
			t.Errorf("%s: %v, %v", name, target, err)
		case tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err) || strings.Contains(err.Error(), "secret")):
			t.Errorf("%s: %v", name, err)
		}
	}
}
