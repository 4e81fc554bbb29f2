package console

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/stopgate/stopgate/internal/control/fleet/member"
)

// settingUp reports whether the fleet is not made yet: that takes all hubs. The hubs that answer know.
func (s status) settingUp(id member.Identity) bool {
	waits := false
	for _, h := range s.HubStatus {
		if h.Status != nil && (h.Status.Made || h.Status.Waits == "") {
			return false
		}
		waits = waits || h.Status != nil
	}
	return waits && len(id.Hubs) > 1
}

// joined reports whether a machine has the place of a hub, as far as the hubs that answer know. The first one knows of
// all.
func (s status) joined(number int) bool {
	for _, h := range s.HubStatus {
		if h.Status == nil {
			continue
		}
		for _, peer := range h.Status.Peers {
			if peer.Name == member.HubName(number) && peer.Joined {
				return true
			}
		}
	}
	return false
}

// away says how bad it is that a hub does not answer, why it does not, and what helps.
func (s status) away(ctx context.Context, id member.Identity, number int) (level, text, hint string) {
	h := s.HubStatus[number-1]
	level = levelWarn // the others may do
	if len(id.Hubs) == 1 {
		level = levelDead
	}
	invite := s.maker.run(id, "stopgate fleet invite --hub") + ", and then what it prints on the machine at " + id.Hubs[number-1].Host
	switch {
	case errors.Is(h.err, nats.ErrAuthorization) && !h.final:
		return levelWait, "it does not know this machine yet: that takes some seconds after joining", "run stopgate fleet doctor again"
	case s.settingUp(id) && !s.joined(number) && s.HubStatus[0].Status != nil:
		return levelWait, "no machine has joined as this hub yet", invite
	}
	text, hint = symptom(ctx, id, number, h.err)
	if s.settingUp(id) && !s.joined(number) {
		hint += fmt.Sprintf("; if none has joined as %s yet, %s", h.Name, invite)
	}
	return level, text, hint
}

// judgeRefusals tells a machine that was taken out from one that some hubs do not know yet. A hub that lets it in, besides
// its own, says that it is a member. Before the fleet is made, hubs join at the first one: what that one does not know
// is not in the fleet.
func (s *status) judgeRefusals(id member.Identity) {
	in, made := false, false
	for i, h := range s.HubStatus {
		if h.Status != nil && i+1 != id.Hub {
			in, made = true, made || h.Status.Made
		}
	}
	for i := range s.HubStatus {
		h := &s.HubStatus[i]
		h.final = errors.Is(h.err, nats.ErrAuthorization) && (!in || i == 0 && !made)
	}
}
