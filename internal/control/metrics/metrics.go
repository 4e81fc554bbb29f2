// Package metrics counts what the daemon hears, for Prometheus.
//
// Counters begin with the daemon: each stop that the daemon follows in the journal counts once, and
// what happened while no daemon ran does not count. What has a state, such as a session, is looked at
// when metrics are asked for.
//
// No value of a label comes from an agent unbounded. Most labels have a fixed set of values; names of
// gates are made plain and short, and only the first of them count by name.
package metrics

import (
	"net/http"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/stopgate/stopgate/internal/sys/plain"
)

// Metrics are those of one daemon. Its methods may be called at the same time.
type Metrics struct {
	registry *prometheus.Registry
	gates    *names
	known    *durations

	stops        *prometheus.CounterVec
	blocks       *prometheus.CounterVec
	gateResults  *prometheus.CounterVec
	gateDuration *prometheus.HistogramVec
	saved        prometheus.Counter
	hookDuration *prometheus.HistogramVec
	cost         *prometheus.CounterVec
	records      prometheus.Counter
	damage       prometheus.Counter
	appends      *prometheus.CounterVec
	appending    prometheus.Histogram
	traces       *prometheus.CounterVec
}

var (
	// A hook takes milliseconds, one that waits for gates as long as these.
	hookBuckets = []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60, 300, 1200}
	gateBuckets = []float64{0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1200}
	// An append waits for the disk.
	appendBuckets = []float64{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5, 10}
)

// New makes the metrics of a daemon. Look is called for each scrape.
func New(version string, look func() State) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(), gates: newNames(mostGates), known: newDurations(mostKnown)}
	m.stops = m.counters("stopgate_stops_total", "Stops of agents that were answered, by hook event and decision.", "event", "decision")
	m.blocks = m.counters("stopgate_stop_blocks_total", "Stops that were blocked, by the keeper that objected.", "keeper")
	m.gateResults = m.counters("stopgate_gate_results_total", "Gates that stops asked, by outcome. A proven gate had passed for the same content and did not run.", "gate", "kind", "outcome")
	m.gateDuration = m.histograms("stopgate_gate_duration_seconds", "How long gates ran.", gateBuckets, "gate")
	m.saved = m.counter("stopgate_proof_saved_seconds_total", "Seconds that proven gates did not run, by the last run of each that this daemon has seen.")
	m.hookDuration = m.histograms("stopgate_hook_duration_seconds", "How long hook calls took.", hookBuckets, "event")
	m.cost = m.counters("stopgate_cost_usd_total", "What models cost, in US dollars: agents of pipelines, and reviews of stops.", "source")
	m.records = m.counter("stopgate_journal_records_total", "Lines of the journal that the daemon followed.")
	m.damage = m.counter("stopgate_journal_damage_total", "Lines of the journal that cannot be read.")
	m.appends = m.counters("stopgate_store_appends_total", "Events that were appended to the store, by result.", "result")
	m.appending = prometheus.NewHistogram(prometheus.HistogramOpts{Name: "stopgate_store_append_duration_seconds", Help: "How long appends to the store took.", Buckets: appendBuckets})
	m.traces = m.counters("stopgate_traces_total", "Traces of stops: sent, or dropped because the receiver does not take them.", "result")

	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "stopgate_build_info", Help: "The daemon's version.",
		ConstLabels: prometheus.Labels{"version": plain.Short(version, longestName), "goversion": runtime.Version()},
	})
	build.Set(1)
	m.registry.MustRegister(
		m.appending, build, newStanding(look),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	m.begin()
	return m
}

func (m *Metrics) counter(name, help string) prometheus.Counter {
	c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	m.registry.MustRegister(c)
	return c
}

func (m *Metrics) counters(name, help string, labels ...string) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	m.registry.MustRegister(c)
	return c
}

func (m *Metrics) histograms(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	h := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	m.registry.MustRegister(h)
	return h
}

// begin has what is certain to come start at zero: the first block is then an increase that Prometheus
// sees.
func (m *Metrics) begin() {
	for _, event := range stopEvents {
		for _, decision := range decisions {
			m.stops.WithLabelValues(event, decision)
		}
	}
	for _, keeper := range keepers {
		m.blocks.WithLabelValues(keeper)
	}
	m.cost.WithLabelValues(ofAgents)
	m.cost.WithLabelValues(ofReviews)
	for _, result := range []Result{OK, Conflict, Failed} {
		m.appends.WithLabelValues(string(result))
	}
	m.traces.WithLabelValues(sent)
	m.traces.WithLabelValues(dropped)
}

const (
	// mostScrapes is how many are answered at once. Each looks at all owners and sessions.
	mostScrapes = 4
	// patience is how long one of them may take.
	patience = 10 * time.Second
)

// Handler answers a scrape, whatever its path.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: mostScrapes, Timeout: patience, ErrorHandling: promhttp.ContinueOnError})
}

// Result is what became of an append.
type Result string

// The results. After a conflict the daemon looks again and appends once more.
const (
	OK       Result = "ok"
	Conflict Result = "conflict"
	Failed   Result = "failed"
)

// Appended counts an append to the store.
func (m *Metrics) Appended(r Result, took time.Duration) {
	m.appends.WithLabelValues(string(r)).Inc()
	m.appending.Observe(took.Seconds())
}

// Spent counts what an agent has spent since the last time.
func (m *Metrics) Spent(usd float64) { add(m.cost.WithLabelValues(ofAgents), usd) }

// Read counts a line of the journal, and whether it was damaged.
func (m *Metrics) Read(damaged bool) {
	m.records.Inc()
	if damaged {
		m.damage.Inc()
	}
}

// The sources of cost.
const (
	ofAgents  = "agents"
	ofReviews = "reviews"
)

// What becomes of traces.
const (
	sent    = "sent"
	dropped = "dropped"
)

// Traced counts traces that were sent, or dropped.
func (m *Metrics) Traced(n int, ok bool) {
	result := dropped
	if ok {
		result = sent
	}
	m.traces.WithLabelValues(result).Add(float64(n))
}

// add adds what a counter can take: records come from outside.
func add(c prometheus.Counter, n float64) {
	const most = 1e12
	if n > 0 && n < most {
		c.Add(n)
	}
}
