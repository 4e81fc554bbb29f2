package fleet

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/control/fleet/ask"
)

// there is a page of the list of one other machine, by its own word: that is more than it shows.
func there[T any](ctx context.Context, p *Plane, q *api.Query, l list[T]) (page api.Page[T], err error) {
	values := queryOf(q)
	if q.Past {
		values.Set(l.past, "1")
	}
	a, err := p.ask(ctx, q.Host, ask.Request{Method: http.MethodGet, Path: l.path + "?" + values.Encode()}, "")
	if err != nil {
		return page, err
	}
	if err := decode(q.Host, a.Body, &page.Items); err != nil {
		return page, err
	}
	for i := range page.Items {
		page.Items[i] = l.away(q.Host, page.Items[i])
	}
	page.Next = nextOf(a.Header.Get("Link"))
	return page, nil
}

// queryOf is a query as it is asked for.
func queryOf(q *api.Query) url.Values {
	values := url.Values{"limit": {strconv.Itoa(q.Limit)}}
	set := func(name, value string) {
		if value != "" {
			values.Set(name, value)
		}
	}
	set("project", q.Project)
	set("name", q.Name)
	set("command", q.Command)
	set("owner", q.Owner)
	set("parent", q.Parent)
	set("status", strings.Join(q.Status, ","))
	for name, t := range map[string]time.Time{"since": q.Since, "until": q.Until} {
		if !t.IsZero() {
			set(name, t.UTC().Format(time.RFC3339Nano))
		}
	}
	if q.After != (api.Place{}) {
		set("cursor", q.After.Cursor())
	}
	return values
}

// nextOf is where the next page begins that a header names; nowhere where it names none that we understand.
func nextOf(header string) api.Place {
	target, _, _ := strings.Cut(strings.TrimPrefix(header, "<"), ">")
	link, err := url.Parse(target)
	if err != nil {
		return api.Place{}
	}
	at, err := api.ParseCursor(link.Query().Get("cursor"))
	if err != nil {
		return api.Place{}
	}
	return at
}
