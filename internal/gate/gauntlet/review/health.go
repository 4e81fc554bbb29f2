package review

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/sys/process"
)

// Survey asks how reviewers are.
type Survey struct {
	Adapters []string
	Root     string
	Environ  []string
	StateDir string
	Now      func() time.Time
	// Probe gets a word out of each, which costs a little of its quota. One that
	// answers is no longer left alone.
	Probe bool
}

// Health is how a reviewer is.
type Health struct {
	Adapter string
	Path    string    // empty: not installed
	Cooling time.Time // until when it is left alone; zero: it is not
	Err     error     // why it cannot review; nil if, as far as is known, it can
}

// probeTimeout is for one word. The slowest reviewers take ten seconds to start.
const probeTimeout = 30 * time.Second

// CheckHealth is the health of each adapter, in their order.
func CheckHealth(ctx context.Context, s Survey) []Health {
	all := make([]Health, len(s.Adapters))
	var probes sync.WaitGroup
	for i, name := range s.Adapters {
		probes.Go(func() { all[i] = s.health(ctx, name) })
	}
	probes.Wait()
	return all
}

func (s Survey) health(ctx context.Context, name string) Health {
	p := newPanel(Request{Root: s.Root, Environ: s.Environ, StateDir: s.StateDir, Now: s.Now}, []byte("hello\n"))
	seat, err := p.seat(name)
	h := Health{Adapter: name, Path: seat.path, Err: err}
	if s.Probe && h.Path != "" {
		h.Err = p.probe(ctx, seat)
	}
	h.Cooling = p.quotas.until(name, s.Now())
	return h
}

// probe gets a word out of a reviewer; any will do.
func (p *panel) probe(ctx context.Context, s seat) error {
	args := s.args(p.place(), "")
	if s.hello != nil {
		args = s.hello(p.place())
	}
	result := process.Run(ctx, process.Command{
		Args: append([]string{s.path}, args...), Dir: p.Root, Env: p.env, Stdin: p.prompted, Timeout: probeTimeout,
	})
	text, err := s.reply(result)
	if err == nil && len(text) == 0 {
		err = errors.New("it said nothing")
	}
	// Some say that the quota is used up and exit with 0.
	if err := p.why(s, result, err); err != nil {
		return err
	}
	return p.quotas.back(s.name, p.Now())
}
