package gauntlet

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestInterrupted(t *testing.T) {
	failed := &Result{Gates: []GateResult{{Outcome: GatePassed}, {Outcome: GateFailed}}}
	killed := &Result{Gates: []GateResult{{Outcome: GateFailed}, {Outcome: GateFailed, killed: true}}}
	passed := &Result{Gates: []GateResult{{Outcome: GatePassed}, {Outcome: GateCouldNotRun}}}
	for name, tt := range map[string]struct {
		result  *Result
		cancel  time.Duration
		want    bool
		waiting time.Duration
	}{
		"the signal came before":          {failed, 0, true, 0},
		"the signal comes a little late":  {failed, signalLag / 2, true, signalLag / 2},
		"there is no signal":              {failed, time.Hour, false, signalLag},
		"it comes late to a busy machine": {killed, killedLag / 2, true, killedLag / 2},
		"a gate was killed by another":    {killed, time.Hour, false, killedLag},
		"a pass waits for nothing":        {passed, time.Hour, false, 0},
		"a pass when it is over":          {passed, 0, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				defer time.AfterFunc(tt.cancel, cancel).Stop()
				if tt.cancel == 0 {
					<-ctx.Done()
				}
				start := time.Now()
				if got := interrupted(ctx, tt.result); got != tt.want {
					t.Errorf("interrupted: %t", got)
				}
				if waited := time.Since(start); waited != tt.waiting {
					t.Errorf("waited %v, want %v", waited, tt.waiting)
				}
			})
		})
	}
}

func TestDeadlineIsNoInterruption(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	if interrupted(ctx, &Result{}) {
		t.Error("the time was over, and nobody stopped the run")
	}
}
