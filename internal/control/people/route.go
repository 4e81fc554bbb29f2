package people

import (
	"net/url"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/project/config"
)

// way is one way in which a message goes out. Its name is for people, without a secret.
type way struct {
	name    string
	address string // of a service, else empty
}

var (
	inConfig  = way{name: "config"} // no way, but what says which there are; it is well when it can be read
	byCommand = way{name: "command"}
	onDesktop = way{name: "desktop"}
)

func byService(address string) way { return way{label(address), address} }

// label names a service: its scheme, and the host where that is one. Some services keep a
// token there.
func label(address string) string {
	service := serviceOf(address)
	u, err := url.Parse(address)
	if err != nil || !hostIsHost(service) || u.Host == "" {
		return service
	}
	return service + "://" + u.Host
}

// hostIsHost reports whether the host of a service's URLs is the one that is talked to.
func hostIsHost(service string) bool {
	return slices.Contains(strings.Fields("bark generic gotify lark matrix mattermost ntfy opsgenie rocketchat signal smtp zulip"), service)
}

// waysOf are those that a section sets.
func waysOf(w config.Ways) (all []way) {
	if w.Muted {
		return nil
	}
	if w.Command != "" {
		all = append(all, byCommand)
	}
	if w.Desktop {
		all = append(all, onDesktop)
	}
	for _, address := range w.URLs {
		all = append(all, byService(address))
	}
	return all
}

// uses are the ways that are set anywhere.
func uses(c config.Notify) map[way]bool {
	used := map[way]bool{}
	sections := []config.Ways{c.Ways}
	for _, p := range c.Projects {
		sections = append(sections, p.Override(c.Ways))
	}
	for _, section := range sections {
		for _, w := range waysOf(section) {
			used[w] = true
		}
	}
	return used
}
