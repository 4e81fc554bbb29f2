package config

import (
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/goccy/go-yaml/ast"
)

// Notify is how a person is told: the ways in general, and those of projects.
type Notify struct {
	Ways
	Projects []ProjectNotify // the first whose path is the project's root or above it counts
}

// Ways are how a message goes out: by all of them at once. Without any nobody is told.
type Ways struct {
	Command string   // run with the message as its argument
	Desktop bool     // a notification on the desktop
	URLs    []string // of services, as shoutrrr writes them. They hold tokens: none goes into a log
	Quiet   Quiet
	Muted   bool // nothing goes out at all; of projects only
}

// ProjectNotify is what is different for the projects at and below a path. What is nil it
// does not say.
type ProjectNotify struct {
	Path    string // absolute, or beginning with ~/
	Command *string
	Desktop *bool
	URLs    *[]string
	Quiet   *Quiet
	Muted   bool
}

// Over are the ways for the project, where these hold in general.
func (p ProjectNotify) Over(general Ways) Ways {
	return Ways{
		Command: *firstSet(p.Command, &general.Command),
		Desktop: *firstSet(p.Desktop, &general.Desktop),
		URLs:    *firstSet(p.URLs, &general.URLs),
		Quiet:   *firstSet(p.Quiet, &general.Quiet),
		Muted:   p.Muted,
	}
}

// Quiet are the hours, in local time, in which nobody is told. They may go over midnight;
// where both ends are the same there are none.
type Quiet struct{ From, To TimeOfDay }

// None reports whether there are no quiet hours.
func (q Quiet) None() bool { return q.From == q.To }

// TimeOfDay is in minutes after midnight.
type TimeOfDay int

func readNotify(v value, to *Notify) {
	v.mapping(
		field{key: "command", read: func(v value) { v.command(&to.Command) }},
		field{key: "desktop", read: func(v value) { v.boolean(&to.Desktop) }},
		field{key: "urls", read: func(v value) { readURLs(v, &to.URLs) }},
		field{key: "quiet", read: func(v value) { readQuiet(v, &to.Quiet) }},
		field{key: "projects", read: func(v value) { readProjectNotify(v, &to.Projects) }},
	)
}

func readProjectNotify(v value, to *[]ProjectNotify) {
	lines := map[string]int{}
	items, _ := v.list()
	for _, item := range items {
		var p ProjectNotify
		item.mapping(
			field{key: "path", required: true, read: func(v value) { v.projectPath(&p.Path, lines) }},
			field{key: "command", read: optional(&p.Command, value.commandOrNone)},
			field{key: "desktop", read: optional(&p.Desktop, value.boolean)},
			field{key: "urls", read: optional(&p.URLs, readURLs)},
			field{key: "quiet", read: optional(&p.Quiet, readQuietOrOff)},
			field{key: "muted", read: func(v value) { v.boolean(&p.Muted) }},
		)
		*to = append(*to, p)
	}
}

// projectPath reads a directory that no entry before it is at or above: such an entry
// would always count first.
func (v value) projectPath(to *string, lines map[string]int) {
	var text string
	if !v.command(&text) {
		return
	}
	clean := filepath.ToSlash(filepath.Clean(text))
	if clean != "~" && !strings.HasPrefix(clean, "~/") && !path.IsAbs(clean) && !filepath.IsAbs(text) {
		v.fault("must be an absolute path", "or one that begins with ~/")
		return
	}
	for above := clean; ; above = path.Dir(above) {
		if line, covered := lines[above]; covered {
			v.fault("is never reached: "+quote(above)+" on line "+strconv.Itoa(line)+" counts first", "put it before that")
			return
		}
		if above == path.Dir(above) || above == "~" {
			break
		}
	}
	lines[clean] = v.span().line
	*to = text
}

// commandOrNone reads a command, or an empty text where none is to run.
func (v value) commandOrNone(to *string) bool {
	if n, ok := v.node.(*ast.StringNode); ok && n.Value == "" {
		*to = ""
		return true
	}
	return v.command(to)
}

// readURLs reads addresses of services. What is wrong with one is said without a word of
// it: it may hold a token.
func readURLs(v value, to *[]string) bool {
	v.d.private++
	defer func() { v.d.private-- }()
	items, ok := v.list()
	if !ok {
		return false
	}
	urls := make([]string, 0, len(items))
	for _, item := range items {
		var url string
		if item.serviceURL(&url) {
			urls = append(urls, url)
		}
	}
	*to = urls
	return true
}

// Services are those that shoutrrr knows, by the schemes of their URLs.
func Services() []string {
	return strings.Fields("bark discord generic googlechat gotify hangouts ifttt join lark logger matrix mattermost notifiarr ntfy " +
		"opsgenie pagerduty pushbullet pushover rocketchat signal slack smtp teams telegram wecom zulip")
}

func (v value) serviceURL(to *string) bool {
	const form = "write it as shoutrrr does, such as ntfy://ntfy.sh/TOPIC"
	if n, ok := v.node.(ast.ScalarNode); ok {
		v.node = asText(n) // so that not even a number is shown
	}
	var text string
	if !v.argument(&text) {
		return false
	}
	scheme, rest, found := strings.Cut(text, "://")
	service, _, _ := strings.Cut(strings.ToLower(scheme), "+")
	switch {
	case !found || rest == "" || !isScheme(scheme) || strings.ContainsFunc(text, unicode.IsSpace):
		v.fault("is not of the form SERVICE://…", form)
	case service == "http" || service == "https":
		v.fault(service+" is not a service", "generic+"+service+"://… sends to any address; services: "+strings.Join(Services(), ", "))
	case !slices.Contains(Services(), service) && Suggest(service, Services()) != "":
		v.fault(quote(service)+" is not a service", didYouMean(service, Services()))
	default:
		*to = text
		return true
	}
	return false
}

// isScheme reports whether a URL may begin so.
func isScheme(text string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyz"
	lower := strings.ToLower(text)
	return lower != "" && strings.Trim(lower, letters+"0123456789+.-") == "" && strings.IndexByte(letters, lower[0]) >= 0
}

func readQuietOrOff(v value, to *Quiet) bool {
	if n, ok := v.node.(*ast.StringNode); ok && n.Value == "off" {
		*to = Quiet{}
		return true
	}
	return readQuiet(v, to)
}

func readQuiet(v value, to *Quiet) bool {
	var q Quiet
	var from, until bool
	v.mapping(
		field{key: "from", required: true, read: func(v value) { from = v.timeOfDay(&q.From) }},
		field{key: "to", required: true, read: func(v value) { until = v.timeOfDay(&q.To) }},
	)
	if !from || !until {
		return false
	}
	if q.None() {
		v.fault("begins and ends at the same time", "leave it out where there are no quiet hours")
		return false
	}
	*to = q
	return true
}

// timeOfDay reads a time such as 22:00.
func (v value) timeOfDay(to *TimeOfDay) bool {
	const form = "write it like \"22:00\""
	n, ok := v.node.(*ast.StringNode)
	if !ok {
		v.wrongType("a time of day", form)
		return false
	}
	t, err := time.Parse("15:04", n.Value)
	if err != nil || len(n.Value) != len("15:04") {
		v.fault(quote(n.Value)+" is not a time of day", form+", from \"00:00\" to \"23:59\"")
		return false
	}
	*to = TimeOfDay(t.Hour()*60 + t.Minute())
	return true
}
