package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/control/fleet/ask"
	"github.com/stopgate/stopgate/internal/control/fleet/beat"
	"github.com/stopgate/stopgate/internal/sys/plain"
	"github.com/stopgate/stopgate/internal/sys/rawjson"
)

// look asks another machine for something.
func look[T any](ctx context.Context, p *Plane, host, path string) (answer T, err error) {
	a, err := p.ask(ctx, host, ask.Request{Method: http.MethodGet, Path: path}, "")
	if err == nil {
		err = decode(host, a.Body, &answer)
	}
	return answer, err
}

// act has another machine do something. again says what to do when it is not known whether it was done.
func act[T any](ctx context.Context, p *Plane, host, path string, body any, again string) (answer T, err error) {
	text, err := rawjson.Marshal(body)
	if err != nil {
		return answer, err
	}
	a, err := p.ask(ctx, host, ask.Request{Method: http.MethodPost, Path: path, Body: text}, again)
	if err == nil {
		err = decode(host, a.Body, &answer)
	}
	return answer, err
}

// decode reads what another machine answered. What a newer version says besides is passed over.
func decode(host string, text []byte, to any) error {
	if err := json.Unmarshal(text, to); err != nil {
		return api.Refusal("unavailable", fmt.Sprintf("the answer of %s is invalid: %s", host, plain.Line(err.Error())), "")
	}
	return nil
}

// ask sends a request and says what went wrong. What changes something, which has an again, is said to have
// changed nothing only where that is sure.
func (p *Plane) ask(ctx context.Context, host string, r ask.Request, again string) (ask.Answer, error) {
	nothing := ""
	if r.Method != http.MethodGet {
		nothing = "; nothing was changed"
	}
	l, connected := p.f.up()
	if !connected {
		return ask.Answer{}, api.Refusal("unavailable", "this machine is not connected to its fleet"+nothing, "see: stopgate fleet status")
	}
	if p.f.quiet(host) {
		return ask.Answer{}, api.Refusal("unavailable", p.f.notHeard(host)+nothing, "")
	}
	a, err := ask.Send(ctx, l, p.f.Version, host, r)
	switch {
	case errors.Is(err, ask.ErrNotSent):
		return ask.Answer{}, api.Refusal("unavailable", p.f.notHeard(host)+nothing, "")
	case err != nil && r.Method == http.MethodGet:
		return ask.Answer{}, api.Refusal("unavailable", host+" did not answer", "")
	case err != nil:
		return ask.Answer{}, api.Refusal("unavailable", host+" did not answer; it is not known whether something was changed", again)
	case a.Status >= http.StatusBadRequest:
		return ask.Answer{}, refusedBy(host, a)
	}
	return a, nil
}

// refusedBy is the error that another machine answered.
func refusedBy(host string, a ask.Answer) error {
	e := &api.Error{Status: a.Status}
	if err := json.Unmarshal(a.Body, &e.Failure); err != nil || e.Failure.Error == "" {
		e.Failure = daemonapi.Failure{Code: "internal", Error: fmt.Sprintf("status %d", a.Status)}
	}
	e.Failure.Error = host + ": " + e.Failure.Error
	if e.Failure.Hint != "" {
		e.Failure.Hint = "on " + host + ": " + e.Failure.Hint
	}
	return e
}

// quiet reports whether a member has said nothing for so long that asking it is of no use.
func (f *Fleet) quiet(member string) bool {
	observer := f.Observer()
	if observer == nil {
		return false
	}
	switch observer.State(member) {
	case beat.Silent, beat.Lost, beat.Asleep, beat.Stopped:
		return true
	}
	return false
}

// notHeard is how long ago a member was heard of, in words.
func (f *Fleet) notHeard(member string) string {
	if observer := f.Observer(); observer != nil {
		if ago, known := observer.Heard(member); known {
			if observer.State(member) == beat.Stopped {
				return member + " was stopped " + daemonapi.Span(ago) + " ago"
			}
			if ago < beat.SilentAfter {
				return member + " does not answer, although it reported " + daemonapi.Span(ago) + " ago"
			}
			return member + " has not reported for " + daemonapi.Span(ago)
		}
	}
	return member + " has never reported"
}
