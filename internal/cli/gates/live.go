package gates

import (
	"context"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/gauntlet"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// live shows a run while it goes on: a line for each gate, with a spinner, its
// time and the last line that it printed.
type live struct {
	screen *term.Screen
	paint  term.Paint
	now    func() time.Time
	begun  time.Time

	mu     sync.Mutex
	gates  []*liveGate
	byID   map[string]*liveGate
	ending bool // the run was interrupted and its gates are being ended

	halt  context.CancelFunc
	ended chan struct{}
}

// liveGate is a gate on the screen.
type liveGate struct {
	name    string
	begun   time.Time // zero while it waits
	printed string
	result  *gauntlet.GateResult // nil until it ended
}

// startLive begins to draw. It draws nothing for a run that is over before the
// first frame is due.
func startLive(ctx context.Context, s *term.Screen, p term.Paint, now func() time.Time) *live {
	l := &live{screen: s, paint: p, now: now, begun: now(), byID: map[string]*liveGate{}, ended: make(chan struct{})}
	halted, halt := context.WithCancel(context.WithoutCancel(ctx))
	l.halt = halt
	go l.animate(ctx.Done(), halted.Done())
	return l
}

// close stops drawing and clears what was drawn; the summary takes its place. It
// may be called twice.
func (l *live) close() {
	l.halt()
	<-l.ended
	if len(l.screen.Drawn) > 0 {
		l.screen.Draw(nil)
	}
}

func (l *live) animate(interrupted, halted <-chan struct{}) {
	defer close(l.ended)
	tick := time.NewTicker(term.FrameTime)
	defer tick.Stop()
	for {
		select {
		case <-halted:
			return
		case <-interrupted:
			interrupted = nil
			l.mu.Lock()
			l.ending = true
			l.mu.Unlock()
		case <-tick.C:
			width, height := l.screen.Size()
			l.screen.Draw(l.frame(width, height))
		}
	}
}

// watch takes what happens in the run.
func (l *live) watch(e gauntlet.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()

	for _, job := range e.Planned {
		gate := &liveGate{name: jobName(job)}
		l.gates = append(l.gates, gate)
		l.byID[job.ID()] = gate
	}
	for _, job := range e.Proven {
		if gate := l.byID[job.ID()]; gate != nil {
			gate.result = &gauntlet.GateResult{Outcome: gauntlet.GateProven}
		}
	}

	switch {
	case e.Started != nil:
		if gate := l.byID[e.Started.ID()]; gate != nil {
			gate.begun = l.now()
		}
	case e.Printed != nil:
		line := plain.Line(plain.LastDrawn(e.Line))
		if gate := l.byID[e.Printed.ID()]; gate != nil && line != "" {
			gate.printed = line
		}
	case e.Finished != nil:
		if gate := l.byID[e.Finished.Job]; gate != nil {
			gate.result = e.Finished
		}
	}
}
