package desk

import (
	"context"
	"time"

	"github.com/stopgate/stopgate/internal/control/fleet/beat"
	"github.com/stopgate/stopgate/internal/control/fleet/claim"
	"github.com/stopgate/stopgate/internal/sys/pause"
)

// deadAfter is how long a machine may go unheard before it ends its attempts of jobs that are done again elsewhere. The
// others begin those after a minute: there is time to end them.
const deadAfter = 20 * time.Second

// Guard is the dead-man's switch: a machine whose beats are not acknowledged ends those attempts that the others are about
// to begin again. It is there as long as the daemon is, with a link or without.
func (d *Desk) Guard(ctx context.Context) {
	ended := map[string]bool{}
	for range pause.Every(ctx, time.Second) {
		unheard, _ := d.Unheard()
		d.endUnheard(ctx, ended, unheard)
	}
}

// heard reports whether a beat of this machine was just acknowledged.
func (d *Desk) heard() bool {
	unheard, ever := d.Unheard()
	return ever && unheard <= beat.UnheardAfter
}

// endUnheard ends the attempts of jobs that are done again, if it is time. What was ended is noted.
func (d *Desk) endUnheard(ctx context.Context, ended map[string]bool, unheard time.Duration) {
	if unheard < deadAfter {
		return
	}
	for owner, of := range d.Machine.Attempts() {
		if !of.Again || ended[owner] {
			continue
		}
		if err := d.Machine.Cancel(ctx, owner, claim.Unheard); err != nil {
			d.Log.Error("cannot end an attempt that is about to be done elsewhere", "job", of.Job, "error", err)
			continue
		}
		ended[owner] = true
		d.Machine.Release(owner) // for what cancelling it leads to
		d.Log.Warn("ended an attempt: this machine has no connection to the fleet, and the fleet does the job again", "job", of.Job, "id", owner)
		d.Machine.Tell(ctx, claim.Notice{Title: "A job was ended on this machine", Text: "Job " + of.Job + ": " + claim.Unheard})
	}
}
