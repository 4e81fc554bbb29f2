package web

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/api"
)

const (
	// fewCards is how many decisions stand on a page: each is long.
	fewCards = 8
	// fewSettled is how many that were answered.
	fewSettled = 5
	// detailsFresh is for how long what helps to decide counts as it is: git is asked for it.
	detailsFresh = 10 * time.Second
	// afarPatience is how long another machine may take to tell more about a decision.
	afarPatience = 3 * time.Second
	// detailsAtOnce is for how many decisions it is looked for at once.
	detailsAtOnce = 4
)

// inboxPage are the decisions that wait for a person.
type inboxPage struct {
	Cards   []card
	More    string
	Settled []daemonapi.Decision
	One     bool // it is the page of one decision
}

// card is a decision with all that helps to make it.
type card struct {
	daemonapi.Decision
	Files   []*diffFile
	Cut     bool   // not all of the diff is shown
	Unnamed int    // files that are not among Files
	NoDiff  string // why the diff could not be made
}

// Ask is what the person is asked, in one line.
func (c card) Ask() string { return c.Question() }

// Said is the rest of what led to the decision.
func (c card) Said() string {
	_, rest, _ := strings.Cut(strings.TrimSpace(c.Context), "\n")
	return strings.TrimSpace(rest)
}

// Several reports whether the agent asks several questions, and each needs an answer.
func (c card) Several() bool { return len(c.Questions()) > 1 }

// Plan is the plan that the agent wants to follow.
func (c card) Plan() string {
	if c.Decision.Ask == nil {
		return ""
	}
	return c.Decision.Ask.Plan
}

// Input is what the agent wants to use a tool for.
func (c card) Input() string {
	if c.Decision.Ask == nil {
		return ""
	}
	return c.Decision.Ask.Input
}

// Words reports whether a person may answer in words.
func (c card) Words() bool { return c.TakesWords() && !c.Several() }

// settled is how a decision was settled.
func settled(d daemonapi.Decision) string {
	text := cmp.Or(d.Closed, d.Chosen, strings.Join(d.Answers, "; "), "answered")
	if d.Message != "" && d.Message != text {
		text += ": " + d.Message
	}
	return text
}

// isMain reports whether an option is the one that a person most likely wants: the one that is recommended,
// else the first.
func isMain(d daemonapi.Decision, o daemonapi.Option) bool {
	for _, other := range d.Options {
		if other.Recommended {
			return o.Recommended
		}
	}
	return o.Number == 1
}

func readInbox(r *Request) (any, error) {
	q, err := r.List("after")
	if err != nil {
		return nil, err
	}
	q.Limit = fewCards
	open, err := r.Decisions(r.Context(), q)
	if err != nil {
		return nil, err
	}
	settled, err := r.lastSettled()
	if err != nil {
		return nil, err
	}
	return inboxPage{Cards: r.site.details.of(r.Context(), r.Plane, open.Items, r.Now), More: r.More("after", open.Next), Settled: settled}, nil
}

// lastSettled are the decisions that were settled last. Finding them takes a look at all pipelines, so
// that is done again only when the daemon has worked.
func (r *Request) lastSettled() ([]daemonapi.Decision, error) {
	events := r.Status(r.Context()).Events
	if known, ok := r.site.settled.get(events); ok {
		return known, nil
	}
	past, err := r.Decisions(r.Context(), &api.Query{Past: true, Limit: fewSettled})
	if err == nil {
		r.site.settled.put(events, past.Items)
	}
	return past.Items, err
}

// readDecision is one decision, to which a notification leads.
func readDecision(r *Request) (any, error) {
	id, err := r.ID()
	if err != nil {
		return nil, err
	}
	d, err := r.Decision(r.Context(), id)
	switch {
	case err != nil:
		return nil, err
	case d.Resolved != nil:
		return inboxPage{Settled: []daemonapi.Decision{d}, One: true}, nil
	}
	return inboxPage{Cards: r.site.details.of(r.Context(), r.Plane, []daemonapi.Decision{d}, r.Now)}, nil
}

// answer answers a decision.
func answer(r *Request) (next string, err error) {
	id, err := r.ID()
	if err != nil {
		return "", err
	}
	d, err := r.Decision(r.Context(), id)
	if err != nil {
		return "", err
	}
	a, err := answerOf(r, &d)
	if err != nil {
		return "", err
	}
	_, err = r.Answer(r.Context(), d.ID, a)
	return "/inbox", err
}

// answerOf is the answer that a form gives.
func answerOf(r *Request, d *daemonapi.Decision) (daemonapi.Answer, error) {
	a := daemonapi.Answer{ID: daemonapi.NewID(), Message: strings.TrimSpace(strings.ReplaceAll(r.Value("message"), "\r\n", "\n"))}
	if n, err := strconv.Atoi(r.Value("option")); err == nil {
		if n < 1 || n > len(d.Options) {
			return a, badRequest("This option no longer exists.")
		}
		a.Option = d.Options[n-1].Name
		return a, nil
	}

	if d.Ask != nil && len(d.Ask.Questions) > 1 {
		for i := range d.Ask.Questions {
			given := chosen(r, "q"+strconv.Itoa(i), d.Ask.Questions[i].Options)
			if given == "" {
				return a, badRequest("Question %d has no answer yet.", i+1)
			}
			a.Answers = append(a.Answers, given)
		}
		return a, nil
	}

	if a.Message == "" {
		return a, badRequest("Choose an answer, or write one.")
	}
	return a, nil
}

// chosen are the labels of what was chosen for a question, and the words that were written besides.
func chosen(r *Request, field string, options []daemonapi.Choice) string {
	var given []string
	for _, text := range r.Form[field] {
		if i, err := strconv.Atoi(text); err == nil && 0 <= i && i < len(options) {
			given = append(given, options[i].Label)
		}
	}
	if other := strings.TrimSpace(r.Value(field + "-other")); other != "" {
		given = append(given, other)
	}
	return strings.Join(given, ", ")
}

func badRequest(format string, args ...any) error {
	return &api.Error{Status: http.StatusBadRequest, Failure: daemonapi.Failure{Code: "invalid", Error: fmt.Sprintf(format, args...)}}
}

// details are what helps to decide, as it was a moment ago.
type details struct {
	slots chan struct{}

	mu    sync.Mutex
	known map[string]detail
}

type detail struct {
	card
	at time.Time
}

func newDetails() *details {
	return &details{slots: make(chan struct{}, detailsAtOnce), known: map[string]detail{}}
}

// of are cards for decisions. What cannot be found out is left out.
func (d *details) of(ctx context.Context, plane Plane, decisions []daemonapi.Decision, now time.Time) []card {
	cards := make([]card, len(decisions))
	var all sync.WaitGroup
	for i, open := range decisions {
		all.Go(func() { cards[i] = d.one(ctx, plane, open, now) })
	}
	all.Wait()
	d.prune(now)
	return cards
}

func (d *details) one(ctx context.Context, plane Plane, open daemonapi.Decision, now time.Time) card {
	d.mu.Lock()
	have, fresh := d.known[open.ID]
	d.mu.Unlock()
	if fresh && now.Sub(have.at).Abs() < detailsFresh {
		have.card.Away = open.Away
		return have.card
	}

	if open.Host != "" {
		return d.afar(ctx, plane, open, now)
	}

	d.slots <- struct{}{}
	defer func() { <-d.slots }()
	c := card{Decision: open}
	if whole, err := plane.Decision(ctx, open.ID); err == nil && whole.Resolved == nil {
		c.Decision = whole
	}

	diff, err := plane.Diff(ctx, open.ID)
	if err != nil {
		c.NoDiff = err.Error()
		return c // to be tried again the next time
	}

	c.Files, c.Cut, c.Unnamed = parseDiff(diff.Text), diff.Cut, diff.Unnamed
	d.mu.Lock()
	defer d.mu.Unlock()
	d.known[open.ID] = detail{c, now}
	return c
}

// afar is a card for a decision on another machine. That has the working tree, so that there is no diff here; and
// one that does not answer is not waited for.
func (d *details) afar(ctx context.Context, plane Plane, open daemonapi.Decision, now time.Time) card {
	c := card{Decision: open}
	if open.Ago() != "" {
		return c
	}

	d.slots <- struct{}{}
	defer func() { <-d.slots }()
	ctx, cancel := context.WithTimeout(ctx, afarPatience)
	defer cancel()

	whole, err := plane.Decision(ctx, open.ID)
	if err != nil {
		return c // to be tried again the next time
	}
	if whole.Resolved == nil {
		c.Decision = whole
	}

	d.mu.Lock()
	defer d.mu.Unlock()
	d.known[open.ID] = detail{c, now}
	return c
}

// prune forgets what is not asked for any more.
func (d *details) prune(now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for id, have := range d.known {
		if now.Sub(have.at).Abs() > time.Minute {
			delete(d.known, id)
		}
	}
}
