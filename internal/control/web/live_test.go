package web

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/sys/checktest"
)

// sent is an event as a browser gets it.
type sent struct{ name, id, data string }

// watch opens a stream for a page. The channel is closed when the stream ends.
func (v *visitor) watch(page string) <-chan sent {
	v.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	v.t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, v.base+"/live?page="+url.QueryEscape(page), http.NoBody)
	check(v.t, err)
	answer, err := v.Do(r)
	check(v.t, err)
	if answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != "text/event-stream" {
		v.t.Fatalf("%d %v", answer.StatusCode, answer.Header)
	}
	events := make(chan sent, 1000)
	go func() {
		defer close(events)
		defer answer.Body.Close()
		var e sent
		lines := bufio.NewScanner(answer.Body)
		lines.Buffer(nil, 16<<20)
		for lines.Scan() {
			name, value, _ := strings.Cut(lines.Text(), ": ")
			switch name {
			case "event":
				e.name = value
			case "id":
				e.id = value
			case "data":
				e.data += value + "\n"
			case "":
				if e.name != "" {
					events <- e
				}
				e = sent{}
			}
		}
	}()
	return events
}

// next is the next event of a name.
func next(t *testing.T, events <-chan sent, name string) sent {
	t.Helper()
	for {
		select {
		case e, more := <-events:
			if !more {
				t.Fatal("the stream has ended")
			}
			if e.name == name {
				return e
			}
		case <-time.After(time.Minute):
			t.Fatalf("no %s", name)
		}
	}
}

// A page that shows a list is sent again when the list changes, and the count in the navigation with it.
func TestIssue18APageIsKeptCurrent(t *testing.T) {
	s := newScene(t)
	v := s.signedIn()
	events := v.watch("/inbox")
	if e := next(t, events, "version"); e.data != "test\n" {
		t.Errorf("%+v", e)
	}
	first := next(t, events, "main")
	s.plane.set(func() { s.plane.decisions = []daemonapi.Decision{sample()} })
	second := next(t, events, "main")
	if first.id == second.id || !strings.Contains(second.data, "Release 2.4.0?") || !strings.Contains(second.data, v.csrf()) || strings.Contains(second.data, blank) {
		t.Errorf("%+v", second)
	}
	if e := next(t, events, "nav"); !strings.Contains(e.data, `class="count"`) {
		e = next(t, events, "nav")
		if !strings.Contains(e.data, `class="count"`) {
			t.Errorf("%+v", e)
		}
	}
}

// A browser that comes back with what it has is not sent the same again.
func TestIssue18WhatABrowserHasIsNotSent(t *testing.T) {
	s := newScene(t)
	v := s.signedIn()
	page := v.get("/inbox").body
	_, rest, _ := strings.Cut(page, `data-hash="`)
	have, _, _ := strings.Cut(rest, `"`)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, v.base+"/live?page=/inbox&have="+have, http.NoBody)
	check(t, err)
	answer, err := v.Do(r)
	check(t, err)
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() && lines.Text() != "event: nav" { // which comes after the page
		if lines.Text() == "event: main" {
			t.Fatal("the page was sent again")
		}
	}
	check(t, lines.Err())
}

// A page whose address is too long for a stream asks for none.
func TestIssue18ALongAddressAsksForNoStream(t *testing.T) {
	s := newScene(t)
	v := s.signedIn()
	if r := v.get("/inbox?x=" + strings.Repeat("x", longestValue)); r.status != http.StatusOK || strings.Contains(r.body, "data-live") {
		t.Errorf("%d", r.status)
	}
	if r := v.get("/inbox?x=" + strings.Repeat("x", longestValue/2)); !strings.Contains(r.body, "data-live") {
		t.Errorf("%d", r.status)
	}
}

// A thousand changes in a moment make a few drawings, and twenty browsers no more than one.
func TestIssue18ChangesAreDrawnTogether(t *testing.T) {
	s := newScene(t)
	v := s.signedIn()
	var all []<-chan sent
	for range 20 {
		events := v.watch("/inbox")
		next(t, events, "main")
		all = append(all, events)
	}
	before, begun := s.plane.reads(), time.Now()
	for i := range 1000 {
		s.plane.set(func() {
			d := sample()
			d.Step = strings.Repeat("x", i%50)
			s.plane.decisions = []daemonapi.Decision{d}
		})
	}
	s.plane.set(func() {
		d := sample()
		d.ID, d.Context = "fedcba9876543210", "The last one?" // another one: what is known of one counts for a while
		s.plane.decisions = []daemonapi.Decision{d}
	})
	for _, events := range all {
		for !strings.Contains(next(t, events, "main").data, "The last one?") {
		}
	}
	const each = 2 // questions for a drawing: open decisions, and settled ones
	most := 3 + int(time.Since(begun)/calm)
	if n := (s.plane.reads() - before) / each; n > most {
		t.Errorf("drawn %d times, not %d at most", n, most)
	}
}

// However often something changes, a page is drawn twice a second at most.
func TestIssue18APageIsDrawnTwiceASecondAtMost(t *testing.T) {
	s := newScene(t)
	events := s.signedIn().watch("/inbox")
	next(t, events, "main")
	begun := time.Now()
	for i := range 4 {
		s.plane.set(func() {
			d := sample()
			d.ID += fmt.Sprint(i)
			s.plane.decisions = []daemonapi.Decision{d}
		})
		next(t, events, "main")
	}
	if took := time.Since(begun); took < 3*calm {
		t.Errorf("four drawings in %v", took)
	}
}

// A stream ends with its session, and feeds with their last browser.
func TestIssue18StreamsEnd(t *testing.T) {
	s := newScene(t)
	v := s.signedIn()
	events := v.watch("/")
	next(t, events, "main")
	s.ui(daemonapi.UIControl{SignOut: true})
	for range events { // until it is closed
	}
	checktest.Eventually(t, "the feed has ended", func() bool {
		s.site.feeds.mu.Lock()
		defer s.site.feeds.mu.Unlock()
		return len(s.site.feeds.all) == 0
	})
	if r := v.get("/live?page=/"); r.status != http.StatusUnauthorized {
		t.Errorf("%d", r.status)
	}
}

// A stream lives longer than any other request.
func TestIssue18StreamsLive(t *testing.T) {
	s := newScene(t)
	v := s.signedIn()
	hurry(t, &asking, time.Second)
	events := v.watch("/inbox")
	next(t, events, "main")
	for range 3 { // each drawing takes half as long as that at least
		s.plane.set(func() { s.plane.decisions = append(s.plane.decisions, sample()) })
		next(t, events, "main")
	}
}

// There are only so many streams.
func TestIssue18StreamsAreLimited(t *testing.T) {
	s := newScene(t)
	v := s.signedIn()
	for range maxStreams {
		s.site.streams <- struct{}{}
	}
	if r := v.get("/live?page=/"); r.status != http.StatusServiceUnavailable {
		t.Errorf("%d", r.status)
	}
}
