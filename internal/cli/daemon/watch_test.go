package daemon

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/sys/checktest"
)

// A daemon that ends between its news and the next look is waited for like one that ends
// while nothing happens.
func TestWatchOutlivesARestart(t *testing.T) {
	state := t.TempDir()
	serveNews(t, daemonapi.Socket(state))

	var looks int
	look := func(context.Context) (term.Glimpse, error) {
		looks++
		switch looks {
		case 1:
			return ownersShow{{owner: daemonapi.Owner{ID: "1", Status: ownerRunning}}}, nil
		case 2:
			return nil, fmt.Errorf("%w: it is restarted", daemonapi.ErrNotRunning)
		default:
			return ownersShow{{owner: daemonapi.Owner{ID: "1", Status: ownerDone}}}, nil
		}
	}
	p := &Daemon{Client: daemonapi.At(state), stateDir: state, out: io.Discard, errOut: io.Discard}
	checktest.OK(t, p.Watch(t.Context(), "", look))
	if looks != 3 {
		t.Errorf("looked %d times, want 3", looks)
	}
}

// serveNews is a daemon that answers and has news at once, and then no more.
func serveNews(t *testing.T, socket string) {
	listener, err := net.Listen("unix", socket)
	checktest.OK(t, err)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/status", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "{}") })
	mux.HandleFunc("GET /v1/events", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "id: 1\ndata: {}\n\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	server := &http.Server{Handler: mux}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
}
