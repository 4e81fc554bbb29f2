//go:build unix

package daemon

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/metrics"
	"github.com/stopgate/stopgate/internal/control/nudge"
	"github.com/stopgate/stopgate/internal/control/store/storetest/memory"
	"github.com/stopgate/stopgate/internal/control/trace"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/record/journal"
	"github.com/stopgate/stopgate/internal/session/presence"
)

// answer writes the answer to a stop into the journal, as a hook does.
func answer(t testing.TB, dir string, r event.Record) journal.Position {
	t.Helper()
	r.Kind, r.Call = event.Answered, journal.NewID()
	at, err := journal.New(dir, journal.Limits{}).Append(&r)
	check(t, err)
	return at
}

// aStop is a stop with a gate that passed and one that failed.
func aStop(decision string) event.Record {
	return event.Record{
		Event: "Stop", Session: "s", Project: "/home/me/shop", Decision: decision, DurationMS: 3000,
		Verdicts: []event.Verdict{
			{Keeper: "gates", Outcome: "failed", Status: "failed", Blocked: decision == "block", DurationMS: 2500},
			{Keeper: "supervisor", Outcome: "passed", DurationMS: 100, Cost: event.Cost{USD: 0.5}},
		},
		Trees: []event.Tree{{Root: "/home/me/shop", Status: "failed", Gates: []event.Gate{
			{Job: "check:.:lint", Outcome: "passed", DurationMS: 400},
			{Job: "check:.:test", Outcome: "failed", DurationMS: 2000},
		}}},
	}
}

// read waits until the daemon has read the journal up to a position.
func (r *running) read(t *testing.T, at journal.Position) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), watchdog)
	defer cancel()
	_, err := r.Signal(ctx, "aaaa", at) // of an agent that there is not
	for daemonapi.Code(err) == "unavailable" && ctx.Err() == nil {
		_, err = r.Signal(ctx, "aaaa", at) // it waits a second and a half
	}
	check(t, err)
}

// overSocket is a client of the daemon's socket.
func overSocket(o Options) *http.Client {
	return &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", o.socket())
		},
	}}
}

// scraped is a scrape by its families.
type scraped map[string]*dto.MetricFamily

func scrape(t *testing.T, client *http.Client, url string) scraped {
	t.Helper()
	response, err := client.Get(url)
	check(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	check(t, err)
	if response.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", response.StatusCode, text)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	check(t, err)
	return families
}

func (r *running) scrape(t *testing.T) scraped {
	t.Helper()
	return scrape(t, overSocket(r.opts), "http://stopgate/metrics")
}

// value is the sum of the samples that have all of some labels, written name=value.
func (s scraped) value(family string, labels ...string) (sum float64) {
	for _, m := range s[family].GetMetric() {
		has := map[string]bool{}
		for _, l := range m.GetLabel() {
			has[l.GetName()+"="+l.GetValue()] = true
		}
		all := true
		for _, label := range labels {
			all = all && has[label]
		}
		if all {
			sum += m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return sum
}

// heard is a log that tests read.
type heard struct {
	mu   sync.Mutex
	text bytes.Buffer
	told chan struct{}
}

func newHeard() *heard { return &heard{told: make(chan struct{}, 1)} }

func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	nudge.Reader(h.told)
	return h.text.Write(p)
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}

// until waits for a line, and returns the groups of the pattern.
func (h *heard) until(t *testing.T, pattern string) []string {
	t.Helper()
	line := regexp.MustCompile(pattern)
	for late := time.After(watchdog); ; {
		if found := line.FindStringSubmatch(h.String()); found != nil {
			return found
		}
		select {
		case <-h.told:
		case <-late:
			t.Fatalf("no %q in\n%s", pattern, h)
		}
	}
}

// aDay is a daemon after a day with some of everything.
func aDay(t *testing.T, config string) (r *running, log *heard) {
	t.Helper()
	w, s := newWorld(), newMemory(t)
	c := testCore(s)
	agent := working(t, c, anID) // which will ask
	w.start(agent, "true")
	o := options(t, w, s)
	log = newHeard()
	o.Log = slog.New(slog.NewTextHandler(log, nil))
	check(t, os.WriteFile(o.Config, []byte(config), 0o600))
	for range 5 {
		answer(t, o.journalDir(), aStop("block")) // while no daemon runs
	}
	check(t, presence.NewBook(o.StateDir).Store(presence.Instance{Session: "work", PID: 1, Pane: "%1", Socket: "/tmp/s", State: presence.Busy, Since: time.Now()}))

	r = begin(t, w, o)
	r.opts = o
	answer(t, o.journalDir(), aStop("block"))
	answer(t, o.journalDir(), aStop("block"))
	proven := aStop("allow")
	proven.Trees[0].Gates = []event.Gate{{Job: "check:.:lint", Outcome: "proven"}, {Job: "check:.:test", Outcome: "passed", DurationMS: 1800}, {Job: "check:.:spell", Outcome: "skipped"}}
	answer(t, o.journalDir(), proven)
	answer(t, o.journalDir(), event.Record{Event: "SubagentStop", Decision: "allow", DurationMS: 4})
	answer(t, o.journalDir(), event.Record{Event: "PreToolUse", Decision: "allow", DurationMS: 3})
	r.read(t, emit(t, o.journalDir(), event.AgentSignal, event.Word{Agent: agent, Kind: "escalate", Message: "help"}))
	r.start(t, anotherID, project(t, twoSteps))
	w.runs(t, "echo one \"you\"")
	return r, log
}

func TestMetricsOfADay(t *testing.T) {
	r, _ := aDay(t, "")
	s := r.scrape(t)
	for _, tt := range []struct {
		want   float64
		family string
		labels []string
	}{
		{2, "stopgate_stops_total", []string{"event=Stop", "decision=block"}},
		{1, "stopgate_stops_total", []string{"event=Stop", "decision=allow"}},
		{1, "stopgate_stops_total", []string{"event=SubagentStop", "decision=allow"}},
		{2, "stopgate_stop_blocks_total", []string{"keeper=gates"}},
		{2, "stopgate_gate_results_total", []string{"gate=test", "outcome=failed"}},
		{1, "stopgate_gate_results_total", []string{"gate=lint", "outcome=proven"}},
		{3, "stopgate_gate_duration_seconds", []string{"gate=test"}},
		{0.4, "stopgate_proof_saved_seconds_total", nil},
		{1, "stopgate_hook_duration_seconds", []string{"event=PreToolUse"}},
		{1.5, "stopgate_cost_usd_total", []string{"source=reviews"}},
		{1, "stopgate_owners", []string{"kind=pipeline", "status=running"}},
		{1, "stopgate_owners", []string{"kind=pipeline", "status=waiting"}},
		{1, "stopgate_sessions", []string{"state=busy"}},
		{1, "stopgate_decisions_open", nil},
		{0, "stopgate_daemon_troubles", nil},
		{0, "stopgate_journal_unread_bytes", nil},
		{6, "stopgate_journal_records_total", nil},
		{1, "stopgate_build_info", []string{"version=v1"}},
	} {
		if got := s.value(tt.family, tt.labels...); got != tt.want || s[tt.family] == nil {
			t.Errorf("%s %v: %v, want %v", tt.family, tt.labels, got, tt.want)
		}
	}
	for family, more := range map[string]float64{"stopgate_decision_oldest_age_seconds": 0, "stopgate_store_appends_total": 0, "stopgate_agents_running": 0} {
		if s.value(family) <= more {
			t.Errorf("%s: %v", family, s.value(family))
		}
	}
}

// A daemon that was restarted, or killed, counts from zero: what is in the journal already does not count
// again.
func TestARestartCountsNothingTwice(t *testing.T) {
	r, _ := aDay(t, "")
	r.stop(t)
	answer(t, r.opts.journalDir(), aStop("block")) // while no daemon runs
	again := begin(t, r.world, r.opts)
	again.opts = r.opts
	if got := again.scrape(t).value("stopgate_stops_total"); got != 0 {
		t.Errorf("%v stops", got)
	}
	again.read(t, answer(t, r.opts.journalDir(), aStop("allow")))
	if got := again.scrape(t).value("stopgate_stops_total"); got != 1 {
		t.Errorf("%v stops", got)
	}
}

// Lines that have to be read again, because the place in the journal was lost, do not count again.
func TestLinesThatAreReadAgainCountOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	c := testCore(newMemory(t))
	i := reader(t, c, dir, "boot")
	counted := 0
	i.read = func(entry journal.Entry) {
		if entry.Record != nil {
			counted++
		}
	}
	for range 3 {
		answer(t, dir, aStop("allow"))
	}
	check(t, i.pass(t.Context(), false))
	i.again = time.Now()
	i.back()
	check(t, i.pass(t.Context(), false))
	if counted != 3 {
		t.Errorf("%d of 3 count", counted)
	}
	answer(t, dir, aStop("allow"))
	answer(t, dir, aStop("allow"))
	check(t, i.pass(t.Context(), false))
	if counted != 5 {
		t.Errorf("%d of 5 count", counted)
	}
}

// What agents spend counts once, also where their pipeline tells another one what they spent.
func TestSpendingCountsOnce(t *testing.T) {
	m := metrics.New("v1", func() metrics.State { return metrics.State{} })
	c := testCore(newMemory(t))
	c.note = func(before, _ *engine.Owner, facts []engine.Fact) { countSpent(m, before, facts) }
	agent := working(t, c, anID)
	for n, usd := range []float64{1, 1.5, 1.2, 1.5} {
		do(t, c, anID, engine.Input{ID: fmt.Sprint("spent", n), What: engine.AgentSpent{AgentID: agent, USD: usd, Tokens: int64(n)}})
	}
	countSpent(m, c.owner(anID), []engine.Fact{engine.ChildReported{ID: "child", Cost: engine.Spent{USD: 7}}})
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if want := "stopgate_cost_usd_total{source=\"agents\"} 1.5\n"; !strings.Contains(w.Body.String(), want) {
		t.Errorf("no %s in\n%s", want, w.Body)
	}
}

// Metrics are served over TCP where the configuration says so, to those who ask this machine.
func TestMetricsOverTCP(t *testing.T) {
	r, log := aDay(t, "metrics: {listen: \"127.0.0.1:0\"}\n")
	address := log.until(t, `serving metrics" address=(\S+)`)[1]
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	s := scrape(t, client, "http://"+address+"/metrics")
	if got := s.value("stopgate_stops_total", "decision=block"); got != 2 {
		t.Errorf("%v", got)
	}
	for name, tt := range map[string]struct {
		method, path, host string
		want               int
	}{
		"rebinding":         {"GET", "/metrics", "evil.example", 421},
		"with our port":     {"GET", "/metrics", "evil.example:9464", 421},
		"like localhost":    {"GET", "/metrics", "localhost.evil.example", 421},
		"like an address":   {"GET", "/metrics", "127.0.0.1.evil.example", 421},
		"another machine":   {"GET", "/metrics", "192.168.1.1:80", 421},
		"by name":           {"GET", "/metrics", "localhost:1", 200},
		"by IPv6":           {"GET", "/metrics", "[::1]:80", 200},
		"without a port":    {"GET", "/metrics", "127.0.0.1", 200},
		"the API":           {"GET", "/v1/status", "", 404},
		"to stop it":        {"POST", "/v1/stop", "", 404},
		"a path trick":      {"GET", "/metrics/../v1/status", "", 404},
		"an escaped path":   {"GET", "/%6detrics", "", 404},
		"another method":    {"POST", "/metrics", "", 405},
		"a name of 10 KB":   {"GET", "/metrics", strings.Repeat("a", 10_000), 421},
		"an empty host":     {"GET", "/metrics", " ", 421},
		"a host with quote": {"GET", "/metrics", `a"b`, 400},
	} {
		if got := ask(t, address, tt.method, tt.path, tt.host); got != tt.want {
			t.Errorf("%s: %d, want %d", name, got, tt.want)
		}
	}
	r.stop(t)
	if _, err := net.Dial("tcp", address); err == nil {
		t.Error("it is still served")
	}
}

// ask sends a request as it is, and returns the status.
func ask(t *testing.T, address, method, path, host string) (status int) {
	t.Helper()
	if host == "" {
		host = address
	}
	conn, err := net.Dial("tcp", address)
	check(t, err)
	defer conn.Close()
	_, err = fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", method, path, host)
	check(t, err)
	answer, err := io.ReadAll(conn)
	check(t, err)
	_, err = fmt.Sscanf(string(answer), "HTTP/1.1 %d", &status)
	check(t, err)
	return status
}

// An address that is in use is told, keeps the daemon from nothing, and is tried again; one that is taken
// out of the configuration is closed.
func TestAnAddressThatIsInUse(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	d := &daemon{Options: Options{Log: quiet()}, core: testCore(newMemory(t))}
	s := &scrapes{daemon: d, handler: localOnly(http.NotFoundHandler())}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	defer s.close()
	s.look(ctx, taken.Addr().String())
	if got := d.core.trouble.list(); s.serves() || len(got) != 1 || !strings.Contains(got[0], "cannot serve metrics") {
		t.Errorf("it serves: %t; trouble: %q", s.serves(), got)
	}
	check(t, taken.Close())
	s.look(ctx, taken.Addr().String())
	if !s.serves() || d.core.trouble.count() != 0 {
		t.Errorf("it serves: %t; trouble: %q", s.serves(), d.core.trouble.list())
	}
	s.look(ctx, "")
	if conn, err := net.Dial("tcp", taken.Addr().String()); err == nil {
		conn.Close()
		t.Error("it is still served")
	}
}

// Two scrapes at once are both answered.
func TestTwoScrapesAtOnce(t *testing.T) {
	r, _ := aDay(t, "")
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			for range 5 {
				if got := r.scrape(t).value("stopgate_stops_total"); got != 4 {
					t.Errorf("%v stops", got)
				}
			}
		})
	}
	all.Wait()
}

// BenchmarkAStop is what it costs the daemon to read a stop in the journal: as before there were metrics
// and traces, with metrics, and with both. Traces are made and sent in the background.
func BenchmarkAStop(b *testing.B) {
	const stops = 1000
	dir := filepath.Join(b.TempDir(), "journal")
	for range stops {
		answer(b, dir, aStop("block"))
	}
	s := memory.New()
	defer s.Close()
	m := metrics.New("v1", func() metrics.State { return metrics.State{} })
	sent := trace.New(trace.Options{
		Target: func() (trace.Target, error) { return trace.Target{}, nil },
		Count:  m.Traced, Trouble: func(error) {},
	})
	d := &daemon{metrics: m, traces: sent}
	for name, read := range map[string]func(journal.Entry){
		"without": func(journal.Entry) {},
		"metrics": func(e journal.Entry) { m.Hear(e.Record) },
		"traces":  d.followed,
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				i := newIngest(testCore(s), journal.New(dir, journal.Limits{}), dir, "boot", quiet())
				i.read = read
				check(b, i.pass(b.Context(), name == "without"))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/stops, "ns/stop")
		})
	}
}
