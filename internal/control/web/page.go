package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

//go:embed templates
var templateFiles embed.FS

// Request is what a page is asked for.
type Request struct {
	*http.Request
	Plane
	Now time.Time

	site *Site
	way  *door
}

const (
	// pageSize is how many of a list stand on a page.
	pageSize = 25
	// longestValue bounds what of an address is looked at.
	longestValue = 1024
)

// Value is a parameter of the address, or of a form.
func (r *Request) Value(name string) string {
	if r.Form != nil { // of a form that was posted
		return r.Form.Get(name)
	}
	value := r.URL.Query().Get(name)
	if len(value) > longestValue {
		return ""
	}
	return value
}

// ID is the part {id} of the path, if it can be an id of ours.
func (r *Request) ID() (string, error) {
	id := r.PathValue("id")
	if !daemonapi.IsID(id) {
		return "", missing("Not found.")
	}
	return id, nil
}

// List is the query for a list that stands on the page: its part that begins where the parameter says,
// which More makes.
func (r *Request) List(parameter string) (*api.Query, error) {
	q := &api.Query{Limit: pageSize}
	if cursor := r.Value(parameter); cursor != "" {
		at, err := api.ParseCursor(cursor)
		if err != nil {
			return nil, missing("This part of the list is not there. Open the page again from the navigation.")
		}
		q.After = at
	}
	return q, nil
}

// Roster knows the sessions of Claude Code, as they are now. Ask for it once for a page.
func (r *Request) Roster() *Roster { return r.site.roster.refresh() }

// More is the address of the next part of a list, "" where there is none.
func (r *Request) More(parameter string, next api.Place) string {
	if next == (api.Place{}) {
		return ""
	}
	return r.With(parameter, next.Cursor())
}

// With is the page's own address with another value of a parameter.
func (r *Request) With(parameter, value string) string {
	values := r.URL.Query()
	values.Set(parameter, value)
	return r.URL.EscapedPath() + "?" + values.Encode()
}

// missing is the error of a page that is not there.
func missing(format string, args ...any) error {
	return &api.Error{Status: http.StatusNotFound, Failure: daemonapi.Failure{Code: "not_found", Error: fmt.Sprintf(format, args...)}}
}

// frame is what the layout draws around a page.
type frame struct {
	Title   string
	Path    string // of the page, for the navigation
	Live    string // where the page is kept current; "" where it is not
	Hash    string
	Main    template.HTML
	Nav     template.HTML
	Version string
	Scripts []string
	Styles  []string
	Signed  bool
	Push    string // the key by which browsers may ask to be told; "" where they may not
}

// navItem is one in the navigation.
type navItem struct {
	Href, Name, Icon string
	Here             bool
	Count            int // of what waits for a person
}

// blank stands where a session's form token goes, so that a page is drawn once for all sessions. It is
// random, so that no text of an agent holds it.
var blank = secret()

// fill puts a session's form token into a page.
func fill(page []byte, csrf string) []byte {
	return bytes.ReplaceAll(page, []byte(blank), []byte(csrf))
}

// templates are the layout and each page, by the page's template.
var templates = sync.OnceValue(func() map[string]*template.Template {
	layout := template.Must(template.New("").Funcs(functions).Funcs(stopFunctions).ParseFS(templateFiles, "templates/layout.html", "templates/parts.html", "templates/icons.html"))
	all := map[string]*template.Template{"": layout}
	for _, name := range append(ownTemplates, templateNames()...) {
		all[name] = template.Must(template.Must(layout.Clone()).ParseFS(templateFiles, "templates/"+name+".html"))
	}
	return all
})

// ownTemplates are those of the site itself.
var ownTemplates = []string{"error", "enter", "act"}

func templateNames() (names []string) {
	for _, p := range Pages() {
		names = append(names, p.Template)
	}
	return names
}

// functions are what templates can call.
var functions = template.FuncMap{
	"asset": assetURL,
	"csrf": func() template.HTML {
		return template.HTML(`<input type="hidden" name="csrf" value="` + blank + `">`)
	},
	"line":     plain.Line,
	"words":    plain.Words,
	"clip":     func(most int, text string) string { return plain.Clip(plain.Line(text), most) },
	"age":      age,
	"clock":    clock,
	"lasted":   lasted,
	"usd":      usd,
	"tokens":   tokens,
	"short":    func(id string) string { return id[:min(len(id), 8)] },
	"base":     func(dir string) string { return plain.Clip(plain.Line(path.Base(dir)), 80) },
	"count":    plain.Count,
	"tone":     tone,
	"query":    url.QueryEscape,
	"dict":     dict,
	"link":     link,
	"linkTo":   linkTo,
	"question": func(d daemonapi.Decision) string { return d.Question() },
	"settled":  settled,
	"main":     isMain,
	"last":     func(options []daemonapi.Option) daemonapi.Option { return options[len(options)-1] },
	"seconds":  func(n int64) time.Duration { return time.Duration(n) * time.Second },
	"millis":   func(ms int64) time.Duration { return time.Duration(ms) * time.Millisecond },
}

// link is a path, if there is such a page.
func link(path string) string {
	for _, p := range Pages() {
		if p.Path == path {
			return path
		}
	}
	return ""
}

// linkTo is the address of the page with an id, if there is such a page.
func linkTo(pattern, id string) string {
	if link(pattern) == "" || id == "" {
		return ""
	}
	return strings.Replace(pattern, "{id}", url.PathEscape(id), 1)
}

// dict makes arguments for a part of a template, from names and values.
func dict(pairs ...any) (map[string]any, error) {
	d := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		name, ok := pairs[i].(string)
		if !ok {
			return nil, fmt.Errorf("dict: %v is not a name", pairs[i])
		}
		d[name] = pairs[i+1]
	}
	return d, nil
}

// age is how long ago a time was. The browser keeps it current, in the same words: see page.js.
func age(t time.Time) template.HTML {
	if t.IsZero() {
		return ""
	}
	stamp := t.UTC().Format(time.RFC3339)
	return template.HTML(`<time datetime="` + stamp + `" title="` + stamp + `" data-age>` + ageText(time.Since(t)) + `</time>`)
}

// ageText has minutes at least: a page that nothing has happened on stays the same for a while.
func ageText(d time.Duration) string {
	minutes := int(d / time.Minute)
	switch {
	case minutes < 1:
		return "now"
	case minutes < 60:
		return strconv.Itoa(minutes) + " min"
	case minutes < 24*60:
		return strconv.Itoa(minutes/60) + " h " + strconv.Itoa(minutes%60) + " min"
	}
	return strconv.Itoa(minutes/60/24) + " d " + strconv.Itoa(minutes/60%24) + " h"
}

// clock is a time. The browser shows it in its own time zone.
func clock(t time.Time) template.HTML {
	if t.IsZero() {
		return ""
	}
	stamp := t.UTC().Format(time.RFC3339)
	return template.HTML(`<time datetime="` + stamp + `" data-clock>` + t.UTC().Format("2006-01-02 15:04 UTC") + `</time>`)
}

// lasted is a duration, in two units at most.
func lasted(d time.Duration) string {
	switch {
	case d < time.Second:
		return strconv.FormatInt(d.Milliseconds(), 10) + " ms"
	case d < 10*time.Second:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	case d < time.Minute:
		return strconv.Itoa(int(d.Seconds())) + " s"
	case d < time.Hour:
		return strconv.Itoa(int(d/time.Minute)) + " min " + strconv.Itoa(int(d/time.Second)%60) + " s"
	}
	return ageText(d)
}

func usd(amount float64) string {
	if amount == 0 {
		return ""
	}
	if amount < 0.01 {
		return "<$0.01"
	}
	return "$" + strconv.FormatFloat(amount, 'f', 2, 64)
}

func tokens(n int64) string {
	switch {
	case n == 0:
		return ""
	case n < 1000:
		return strconv.FormatInt(n, 10) + " tokens"
	case n < 1_000_000:
		return strconv.FormatFloat(float64(n)/1000, 'f', 1, 64) + "k tokens"
	}
	return strconv.FormatFloat(float64(n)/1e6, 'f', 1, 64) + "M tokens"
}

// tone is the colour of a state: bad, warn, good, busy or calm.
func tone(state string) string {
	switch state {
	case "failed", "block", "blocked", "reject", "dead", "held", "fault", "error", "lost":
		return "bad"
	case "waiting", "asking", "parked", "could_not_run", "gave up", "gave_up", "silent":
		return "warn"
	case "done", "allow", "passed", "proven", "complete", "completed", "up":
		return "good"
	case "running", "claimed", "busy", "open":
		return "busy"
	}
	return "calm"
}

// drawn is a page that was drawn, for all sessions.
type drawn struct {
	main []byte
	hash string // of main
}

// draw reads and draws the part of a page that is kept current.
func (s *Site) draw(p *Page, r *Request) (drawn, error) {
	data, err := p.Read(r)
	if err != nil {
		return drawn{}, err
	}
	return execute(p.Template, data)
}

func execute(name string, data any) (drawn, error) {
	var b bytes.Buffer
	if err := templates()[name].ExecuteTemplate(&b, "main", data); err != nil {
		return drawn{}, err
	}
	main := bytes.Map(visible, b.Bytes())
	sum := sha256.Sum256(main)
	return drawn{main: main, hash: base64.RawURLEncoding.EncodeToString(sum[:12])}, nil
}

// visible leaves control characters out, and those that turn the direction of a text: nothing that an
// agent wrote may look like something else. Templates do so themselves where they can; this is for what
// they forget, such as names in addresses.
func visible(r rune) rune {
	switch {
	case r == '\n' || r == '\t':
		return r
	case r < ' ', 0x7f <= r && r < 0xa0, 0x200e <= r && r <= 0x200f, 0x202a <= r && r <= 0x202e, 0x2066 <= r && r <= 0x2069:
		return -1
	}
	return r
}

// navigation draws the navigation as it is on a page.
func (s *Site) navigation(r *Request, here string) ([]byte, error) {
	var items []navItem
	for _, p := range Pages() {
		if p.Nav == "" || p.When != nil && !p.When(r) {
			continue
		}
		href := strings.TrimSuffix(p.Path, "{$}")
		item := navItem{Href: href, Name: p.Nav, Icon: p.Icon, Here: href == here || href != "/" && strings.HasPrefix(here, href+"/")}
		if href == "/inbox" {
			item.Count = r.Status(r.Context()).Decisions + r.waitingAfar()
		}
		items = append(items, item)
	}
	var b bytes.Buffer
	err := templates()[""].ExecuteTemplate(&b, "nav", items)
	return b.Bytes(), err
}

// whole draws a page with all that is around it.
func (s *Site) whole(f frame) ([]byte, error) {
	var b bytes.Buffer
	err := templates()[""].ExecuteTemplate(&b, "layout", f)
	return b.Bytes(), err
}
