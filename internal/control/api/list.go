package api

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
)

const (
	// defaultLimit is how many of a list are answered where the request does not say it.
	defaultLimit = 50
	// maxLimit bounds what one request costs.
	maxLimit = 500
)

// Query says which of a list are wanted. An empty field lets all through.
type Query struct {
	Kind    string // of an owner
	Project string
	Name    string
	Command string
	Owner   string
	Parent  string // of an owner; "" is for those without one
	Session string
	Queue   string // of an item
	Host    string // a machine of the fleet, daemonapi.Here for this one, or "" for all
	Status  []string
	Types   []string // of facts: events have at least one of them
	Since   time.Time
	Until   time.Time // exclusive
	Past    bool      // settled decisions instead of open ones; agents that have ended as well
	Data    bool      // events with the data of their facts

	After Place // the page begins behind it
	Limit int   // of the page, at least 1
}

// Allows reports whether a status is one of those that are wanted.
func (q *Query) Allows(status string) bool {
	return len(q.Status) == 0 || slices.Contains(q.Status, status)
}

// AllowsTime reports whether a time is one of those that are wanted.
func (q *Query) AllowsTime(t time.Time) bool {
	return (q.Since.IsZero() || !t.Before(q.Since)) && (q.Until.IsZero() || t.Before(q.Until))
}

// Is reports whether a value is the one that is wanted, if one is.
func Is(wanted, value string) bool { return wanted == "" || wanted == value }

// Place is where something stands in its list, the newest first. A page that begins behind a place
// is the same whether or not that is still there, and whatever was added before it.
type Place struct {
	Time time.Time
	ID   string // tells apart what has the same time; never empty
}

// Compare is negative where a place comes before another one.
func (p Place) Compare(other Place) int {
	return cmp.Or(other.Time.Compare(p.Time), cmp.Compare(p.ID, other.ID))
}

// PlaceOf is the place of something of a time. What has none comes first.
func PlaceOf(at time.Time, id string) Place {
	if at.IsZero() {
		at = time.Unix(1<<48, 0) // which no time of ours is
	}
	return Place{Time: at, ID: id}
}

// maxCursor is more than any cursor of ours has.
const maxCursor = 1024

// Cursor is a place as clients see it, who may read nothing from it.
func (p Place) Cursor() string {
	text := fmt.Sprintf("%d.%d.%s", p.Time.Unix(), p.Time.Nanosecond(), p.ID)
	return base64.RawURLEncoding.EncodeToString([]byte(text))
}

var errCursor = errors.New("is not a cursor: use that of the header Link")

// ParseCursor is the place of a cursor.
func ParseCursor(cursor string) (Place, error) {
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(cursor) > maxCursor || !utf8.Valid(text) {
		return Place{}, errCursor
	}
	parts := strings.SplitN(string(text), ".", 3)
	if len(parts) != 3 || parts[2] == "" {
		return Place{}, errCursor
	}
	seconds, err := strconv.ParseInt(parts[0], 10, 64)
	nanos, wrong := strconv.ParseUint(parts[1], 10, 30)
	if err != nil || wrong != nil {
		return Place{}, errCursor
	}
	p := Place{Time: time.Unix(seconds, int64(nanos)).UTC(), ID: parts[2]}
	if p.Cursor() != cursor { // each place has one
		return Place{}, errCursor
	}
	return p, nil
}

// Page is a part of a list.
type Page[T any] struct {
	Items []T
	Next  Place // behind which the next page begins; zero where there is none
}

// PageOf is the page that a query asks for of items that come in any order. No two have the same
// place.
func PageOf[T any](all iter.Seq[T], place func(T) Place, q *Query) Page[T] {
	var first []T // in order, and one more than the page has
	for item := range all {
		at := place(item)
		if q.After != (Place{}) && at.Compare(q.After) <= 0 {
			continue
		}
		if len(first) > q.Limit && at.Compare(place(first[q.Limit])) > 0 { // as most are
			continue
		}
		i, _ := slices.BinarySearchFunc(first, at, func(other T, at Place) int { return place(other).Compare(at) })
		first = slices.Insert(first, i, item)
		first = first[:min(len(first), q.Limit+1)]
	}
	if len(first) <= q.Limit {
		return Page[T]{Items: first}
	}
	return Page[T]{Items: first[:q.Limit], Next: place(first[q.Limit-1])}
}

// View is the page with something else in the place of each item.
func View[T, V any](p Page[T], view func(T) V) Page[V] {
	shown := Page[V]{Next: p.Next}
	for _, item := range p.Items {
		shown.Items = append(shown.Items, view(item))
	}
	return shown
}

// AnyParent is the parent of a query that asks for all, with a parent and without.
const AnyParent = daemonapi.AnyParent

// The parameters of lists.
var (
	limitParameter  = Parameter{"limit", fmt.Sprintf("How many to answer at most: %d where it is left out, at most %d.", defaultLimit, maxLimit), isLimit}
	cursorParameter = Parameter{"cursor", "Where the page begins, from the header Link of the page before.", isCursor}
	sinceParameter  = Parameter{"since", "Only those of this time or later, in the form of RFC 3339.", isTime}
	untilParameter  = Parameter{"until", "Only those before this time, in the form of RFC 3339.", isTime}
	projectParam    = Parameter{"project", "Only those of this project: its root.", absolute}
	nameParameter   = Parameter{"name", "Only those of this name.", isText}
	hostParameter   = Parameter{"host", "Only those on this machine of the fleet; . is the one that answers. Without it, those of all.", isHost}
)

// paged are the parameters of a list, after those of its own.
func paged(own ...Parameter) []Parameter {
	return append(own, sinceParameter, untilParameter, limitParameter, cursorParameter)
}

var (
	isLimit = which(fmt.Sprintf("is not a number from 1 to %d", maxLimit), func(v string) bool {
		n, err := strconv.Atoi(v)
		return err == nil && 1 <= n && n <= maxLimit
	})
	isTime   = which("is not a time such as 2026-01-30T08:14:09Z", func(v string) bool { _, err := time.Parse(time.RFC3339, v); return err == nil })
	isParent = func(value string) error {
		if value == AnyParent {
			return nil
		}
		return ownerID(value)
	}
	isHost = which("is not the name of a machine", func(v string) bool { return v == daemonapi.Here || daemonapi.IsFleetName(v) })
	isText = which("is not a name", func(v string) bool { return utf8.ValidString(v) && len(v) <= maxCursor })
)

func isCursor(value string) error {
	if _, err := ParseCursor(value); err != nil {
		return fmt.Errorf("%.80q %w", value, err)
	}
	return nil
}

// several is a check of values that are separated by commas.
func several(check func(value string) error) func(value string) error {
	return func(value string) error {
		for one := range strings.SplitSeq(value, ",") {
			if err := check(one); err != nil {
				return err
			}
		}
		return nil
	}
}

// wanted is what the request's query asks for. Its values were checked.
func (r *request) wanted() *Query {
	q := &Query{
		Project: r.query["project"], Name: r.query["name"], Command: r.query["command"],
		Owner: r.query["owner"], Parent: r.query["parent"], Session: r.query["session"], Queue: r.query["queue"], Host: r.query["host"],
		Status: words(r.query["status"]), Types: words(r.query["type"]),
		Past: r.query["settled"] == "1" || r.query["all"] == "1", Data: r.query["data"] == "1",
		Limit: defaultLimit,
	}
	q.Since, _ = time.Parse(time.RFC3339, r.query["since"])
	q.Until, _ = time.Parse(time.RFC3339, r.query["until"])
	q.After, _ = ParseCursor(r.query["cursor"])
	if limit := r.query["limit"]; limit != "" {
		q.Limit, _ = strconv.Atoi(limit)
	}
	return q
}

func words(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}

// pages is a handler of a list.
func pages[T any](ask func(p Plane, ctx context.Context, q *Query) (Page[T], error)) handler {
	return pagesOf("", ask)
}

// pagesOf is a handler of a list of one kind of owner.
func pagesOf[T any](kind string, ask func(p Plane, ctx context.Context, q *Query) (Page[T], error)) handler {
	return func(s *server, r *request) (any, error) {
		q := r.wanted()
		q.Kind = kind
		page, err := ask(s.plane, r.Context(), q)
		if err != nil {
			return nil, err
		}
		if page.Next != (Place{}) {
			r.link("cursor", page.Next.Cursor())
		}
		return list(page.Items), nil
	}
}

// link names the next page: it is the same request, but for one parameter.
func (r *request) link(name, value string) {
	values := url.Values{}
	for name, value := range r.query {
		values.Set(name, value)
	}
	values.Set(name, value)
	r.w.Header().Set("Link", "<"+r.URL.EscapedPath()+"?"+values.Encode()+`>; rel="next"`)
}

// history is the list of past events, whose positions are their places.
func (s *server) history(r *request) (any, error) {
	before := uint64(Now)
	if text := r.query["before"]; text != "" {
		before, _ = strconv.ParseUint(text, 10, 64) // was checked
	}
	page, err := s.plane.History(r.Context(), r.wanted(), before)
	if err != nil {
		return nil, err
	}
	if page.Next != (Place{}) {
		r.link("before", page.Next.ID)
	}
	return list(page.Items), nil
}
