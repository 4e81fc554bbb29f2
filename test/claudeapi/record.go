package claudeapi

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// Match picks requests.
type Match = func(Request) bool

// Prompt matches a conversation that began with a prompt holding the text.
func Prompt(text string) Match {
	return func(r Request) bool { return strings.Contains(r.FirstUserText(), text) }
}

// Last matches a request whose newest user text holds the text.
func Last(text string) Match {
	return func(r Request) bool { return strings.Contains(r.LastUserText(), text) }
}

// WithTool matches requests that offer the tool.
func WithTool(name string) Match {
	return func(r Request) bool { return r.HasTool(name) }
}

// Requests are those of all conversations so far, in order of arrival. The terminal client's
// requests for a session title are not among them: they come at any time.
func (a *API) Requests() []Request {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.requests)
}

// patience is for a client that starts on a busy machine; it usually asks within a second.
// Half a minute was too short once: a reviewer is a second client beside the first.
const patience = 2 * time.Minute

// WaitRequest gives the first request that matches, past or to come, and ends the test when
// there is none for two minutes.
func (a *API) WaitRequest(t testing.TB, match Match) Request {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	r, err := a.wait(ctx, match)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (a *API) wait(ctx context.Context, match Match) (Request, error) {
	for seen := 0; ; {
		a.mu.Lock()
		fresh, arrived := slices.Clone(a.requests[seen:]), a.arrived
		a.mu.Unlock()
		for _, r := range fresh {
			if match(r) {
				return r, nil
			}
		}
		seen += len(fresh)
		select {
		case <-arrived:
		case <-ctx.Done():
			return Request{}, fmt.Errorf("no such request to the model API among the %d that came: %w", seen, ctx.Err())
		}
	}
}
