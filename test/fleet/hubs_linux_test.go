package fleet

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/control/fleet/link"
	"github.com/stopgate/stopgate/internal/control/fleet/member"
	"github.com/stopgate/stopgate/internal/sys/pause"
	"github.com/stopgate/stopgate/test/fleet/world"
)

// fleetName is what the fleet is called.
const fleetName = "home"

// hubStatus are the hubs as a machine sees them; those that do not answer are left out.
func (s *stage) hubStatus(m *world.Machine) (all []member.HubStatus, err error) {
	out, err := m.Run(s.ctx, "stopgate", "fleet", "status", "--json")
	var status struct {
		HubStatus []struct{ Status *member.HubStatus } `json:"hub_status"`
	}
	if wrong := json.Unmarshal([]byte(out), &status); wrong != nil {
		return nil, errors.Join(err, fmt.Errorf("%q: %w", out, wrong))
	}
	for _, h := range status.HubStatus {
		if h.Status != nil {
			all = append(all, *h.Status)
		}
	}
	return all, nil
}

// leader is the machine whose hub leads the fleet's store, once there is one.
func (s *stage) leader() (machine int, err error) {
	for range pause.Doubling(s.ctx, 100*time.Millisecond, time.Second) {
		for _, m := range s.Machines {
			hubs, err := s.hubStatus(m)
			if err != nil {
				continue
			}
			for _, h := range hubs {
				for _, stream := range h.Streams {
					if number, is := strings.CutPrefix(stream.Leader, member.HubName(0)[:len("hub-")]); is && stream.Name == (link.Names{Fleet: fleetName}).LogStream() {
						_, err := fmt.Sscan(number, &machine)
						return machine - 1, err
					}
				}
			}
		}
	}
	return 0, fmt.Errorf("the fleet has no leader: %w", s.ctx.Err())
}

// awaitWhole waits until every hub has all of the fleet's streams.
func (s *stage) awaitWhole() error {
	last := ""
	for range pause.Doubling(s.ctx, 100*time.Millisecond, time.Second) {
		hubs, err := s.hubStatus(s.Machines[0])
		last = fmt.Sprintf("%+v, %v", hubs, err)
		if err == nil && whole(hubs, len(s.Machines)) {
			return nil
		}
	}
	return fmt.Errorf("the hubs do not have all of the fleet: %s: %w", last, s.ctx.Err())
}

func whole(hubs []member.HubStatus, machines int) bool {
	if len(hubs) != machines {
		return false
	}
	for _, h := range hubs {
		if len(h.Streams) != 3 || h.Waits != "" {
			return false
		}
		for _, stream := range h.Streams {
			if stream.Current != machines {
				return false
			}
		}
	}
	return true
}
