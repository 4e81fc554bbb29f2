package daemon

import (
	"context"
	"net"
	"net/http"
	"time"

	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/pause"
)

// scrapes serves metrics on an address of this machine, as the configuration says.
type scrapes struct {
	*daemon
	handler http.Handler

	address string // that it serves on, or tries to; empty for none
	stop    func() // is nil where it does not serve
	ended   chan struct{}
}

// scrapesEvery is how often the configuration is looked at, and an address that is in use is tried again.
const scrapesEvery = 30 * time.Second

// serveMetrics serves metrics until the context ends.
func (d *daemon) serveMetrics(ctx context.Context, handler http.Handler) {
	s := &scrapes{daemon: d, handler: localOnly(handler)}
	defer s.close()
	for range pause.Every(ctx, scrapesEvery) {
		s.look(ctx, d.config.now().Metrics.Listen)
	}
}

// look sees to it that metrics are served on an address, and nowhere else.
func (s *scrapes) look(ctx context.Context, address string) {
	if address == s.address && (address == "" || s.serves()) {
		return
	}

	s.close()
	s.address = address
	if address == "" {
		s.logError("cannot serve metrics", nil)
		return
	}

	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	s.logError("cannot serve metrics", err)
	if err != nil {
		return
	}
	s.Log.Info("serving metrics", "address", listener.Addr().String())

	serving, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	s.ended = ended
	go func() {
		defer close(ended)
		s.logError("cannot serve metrics", api.Serve(serving, listener, s.handler))
	}()
	s.stop = func() {
		cancel()
		<-ended
	}
}

// serves reports whether it answers.
func (s *scrapes) serves() bool {
	if s.stop == nil {
		return false
	}
	select {
	case <-s.ended:
		return false
	default:
		return true
	}
}

func (s *scrapes) close() {
	if s.stop != nil {
		s.stop()
		s.stop = nil
	}
}

// localOnly answers GET /metrics of those who asked for this machine: a page in a browser whose name was
// made to lead here sends that name.
func localOnly(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(scrapePatience))
		switch {
		case !config.IsLoopback(r.Host):
			http.Error(w, "the Host header must name this machine: 127.0.0.1, [::1] or localhost", http.StatusMisdirectedRequest)
		case r.URL.EscapedPath() != "/metrics":
			http.Error(w, "there is only /metrics", http.StatusNotFound)
		case r.Method != http.MethodGet:
			w.Header().Set("Allow", http.MethodGet)
			http.Error(w, "the method must be GET", http.StatusMethodNotAllowed)
		default:
			handler.ServeHTTP(w, r)
		}
	})
}

// scrapePatience is how long an answer may take, with the time to read it.
const scrapePatience = 20 * time.Second
