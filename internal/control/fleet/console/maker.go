package console

import (
	"fmt"

	"github.com/stopgate/stopgate/internal/control/fleet/member"
)

// maker is the machine that made the fleet: it runs the first hub, and it alone invites hubs and takes other machines
// out.
type maker struct {
	name string // empty where the fleet's records cannot be read
	left bool
}

// makerIn finds it in the fleet's records.
func makerIn(records []member.Record) (m maker) {
	for _, r := range records {
		if r.Hub == 1 && (m.name == "" || !r.Left) {
			m = maker{r.Name, r.Left}
		}
	}
	return m
}

// run says where a command is to be run that only the maker can do. Without its name there is its address.
func (m maker) run(id member.Identity, command string) string {
	switch {
	case id.Hub == 1 || id.NATS != "":
		return "run: " + command
	case m.name != "":
		return fmt.Sprintf("on %s: %s", m.name, command)
	}
	return fmt.Sprintf("on the machine at %s, which made the fleet: %s", id.Hubs[0].Host, command)
}
