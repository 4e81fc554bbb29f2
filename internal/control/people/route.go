package people

import (
	"net/url"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/project/config"
)

// way is one way in which a message goes out. Its name is for people, without a secret.
type way struct{ key, name string }

var (
	inConfig  = way{"", "config"} // no way, but what says which there are; it is well when it can be read
	byCommand = way{"command", "command"}
	onDesktop = way{"desktop", "desktop"}
)

func byService(address string) way { return way{"url " + address, label(address)} }

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

// used are the ways that are set anywhere.
type used struct {
	command, desktop bool
	urls             []string
}

func uses(c config.Notify) (u used) {
	u.add(c.Ways)
	for _, p := range c.Projects {
		u.add(p.Over(c.Ways))
	}
	return u
}

func (u *used) add(w config.Ways) {
	if w.Muted {
		return
	}
	u.command = u.command || w.Command != ""
	u.desktop = u.desktop || w.Desktop
	u.urls = append(u.urls, w.URLs...)
}

func (u used) has(w way) bool {
	switch w {
	case byCommand:
		return u.command
	case onDesktop:
		return u.desktop
	}
	return slices.Contains(u.urls, strings.TrimPrefix(w.key, "url "))
}
