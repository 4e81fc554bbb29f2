package config

import (
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/stopgate/stopgate/internal/project/document"
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

// Override are the ways for the project, where these hold in general.
func (p ProjectNotify) Override(general Ways) Ways {
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

func (n *Notify) fields() []field {
	return []field{
		document.Key("command", &n.Command, command(), "Run with the message as its argument."),
		document.Key("desktop", &n.Desktop, document.Flag, desktopSays),
		document.Key("urls", &n.URLs, urls(), urlsSays),
		document.Key("quiet", &n.Quiet, quiet(), quietSays),
		document.Key("projects", &n.Projects, projectNotifies(), "Settings for single projects. The first path that is the project or above it is used."),
	}
}

const (
	desktopSays = "Show desktop notifications. Default: false."
	urlsSays    = "Services, as shoutrrr URLs. They contain tokens: keep the file private."
	quietSays   = "Hours, in local time, in which nothing is sent. What still matters is sent afterwards."
)

// fields are those of an entry, where lines are those of the paths before it.
func (p *ProjectNotify) fields(lines map[string]int) []field {
	none := func() schema { return document.AnyOf(schema{"const": ""}, document.Words()) }
	off := func() schema { return document.AnyOf(schema{"const": "off"}, quiet().Schema().Says(quietSays)) }
	return []field{
		document.Key("path", &p.Path, projectPath(lines), "The project's root, or a directory above it: absolute, or beginning with ~/.").Needed(),
		document.Key("command", &p.Command, document.Optional(unless("", command()).As(none)), "Run with the message as its argument; empty for none."),
		document.Key("desktop", &p.Desktop, document.Optional(document.Flag), desktopSays),
		document.Key("urls", &p.URLs, document.Optional(urls()), urlsSays),
		document.Key("quiet", &p.Quiet, document.Optional(unless("off", quiet()).As(off)), ""),
		document.Key("muted", &p.Muted, document.Flag, "Send nothing.").Default(false),
	}
}

func projectNotifies() typeOf[[]ProjectNotify] {
	lines := map[string]int{}
	return listOf(section(func(p *ProjectNotify) []field { return p.fields(lines) }))
}

// projectPath reads a directory that no entry before it is at or above: such an entry
// would always count first.
func projectPath(lines map[string]int) typeOf[string] {
	return document.Then(command(), func(v value, text string) (string, bool) {
		clean := filepath.ToSlash(filepath.Clean(text))
		if clean != "~" && !strings.HasPrefix(clean, "~/") && !path.IsAbs(clean) && !filepath.IsAbs(text) {
			v.Fault("must be an absolute path", "or one that begins with ~/")
			return "", false
		}
		for above := clean; ; above = path.Dir(above) {
			if line, covered := lines[above]; covered {
				v.Fault("is never used: "+quote(above)+" on line "+strconv.Itoa(line)+" matches first", "move it before that")
				return "", false
			}
			if above == path.Dir(above) || above == "~" {
				break
			}
		}
		lines[clean] = v.Span().Line
		return text, true
	})
}

// unless reads a setting, or a word for none.
func unless[T any](word string, t typeOf[T]) typeOf[T] {
	return document.New(func(v value, to *T) bool {
		if v.Node.Kind() == document.Text && v.Node.Text() == word {
			*to = *new(T)
			return true
		}
		return t.Read(v, to)
	}, t.Schema)
}

// urls reads addresses of services. What is wrong with one is said without a word of
// it: it may hold a token.
func urls() typeOf[[]string] {
	t := listOf(document.New(readServiceURL, func() schema { return document.Matching(`^[A-Za-z][A-Za-z0-9+.\-]*://\S+$`) }))
	return document.New(func(v value, to *[]string) bool {
		v.Private++
		defer func() { v.Private-- }()
		urls := []string{}
		if !t.Read(v, &urls) {
			return false
		}
		*to = urls
		return true
	}, t.Schema)
}

// Services are those that shoutrrr knows, by the schemes of their URLs.
func Services() []string {
	return strings.Fields("bark discord generic googlechat gotify hangouts ifttt join lark logger matrix mattermost notifiarr ntfy " +
		"opsgenie pagerduty pushbullet pushover rocketchat signal slack smtp teams telegram wecom zulip")
}

func readServiceURL(v value, to *string) bool {
	const form = "write it as shoutrrr does, such as ntfy://ntfy.sh/TOPIC"
	n := v.Node.(node)
	v.Node = node{n.d, asText(n.ast)} // so that not even a number is shown
	var text string
	if !argument().Read(v, &text) {
		return false
	}
	scheme, rest, found := strings.Cut(text, "://")
	service, _, _ := strings.Cut(strings.ToLower(scheme), "+")
	switch {
	case !found || rest == "" || !isScheme(scheme) || strings.ContainsFunc(text, unicode.IsSpace):
		v.Fault("is not of the form SERVICE://…", form)
	case service == "http" || service == "https":
		v.Fault(service+" is not a service", "generic+"+service+"://… sends to any address; services: "+strings.Join(Services(), ", "))
	case !slices.Contains(Services(), service) && document.Suggest(service, Services()) != "":
		v.Fault(quote(service)+" is not a service", document.DidYouMean(service, Services()))
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

func (q *Quiet) fields() []field {
	return []field{
		document.Key("from", &q.From, timeOfDay(), "").Needed(),
		document.Key("to", &q.To, timeOfDay(), "").Needed(),
	}
}

func quiet() typeOf[Quiet] {
	t := section((*Quiet).fields)
	return document.New(func(v value, to *Quiet) bool {
		q := Quiet{From: -1, To: -1}
		if !t.Read(v, &q) || q.From < 0 || q.To < 0 {
			return false
		}
		if q.None() {
			v.Fault("begins and ends at the same time", "remove it if there are no quiet hours")
			return false
		}
		*to = q
		return true
	}, t.Schema)
}

// timeOfDay reads a time such as 22:00.
func timeOfDay() typeOf[TimeOfDay] {
	const form = "write it like \"22:00\""
	return document.Then(word("a time of day", form), func(v value, text string) (TimeOfDay, bool) {
		t, err := time.Parse("15:04", text)
		if err != nil || len(text) != len("15:04") {
			v.Fault(quote(text)+" is not a time of day", form+", from \"00:00\" to \"23:59\"")
			return 0, false
		}
		return TimeOfDay(t.Hour()*60 + t.Minute()), true
	}).As(func() schema { return document.Matching("^([01][0-9]|2[0-3]):[0-5][0-9]$") })
}
