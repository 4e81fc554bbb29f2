//go:build unix

package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/control/web"
)

// webBrowsers is how many browsers look at the web page.
const webBrowsers = 20

// webPage measures the web page of a daemon with many sessions and pipelines beside one with few, while
// 200 events a second come; and a hook with and without browsers that look on.
func webPage(ctx context.Context, l *lab, r *report) error {
	few, err := l.site(ctx, "web-few", 20, 20)
	if err != nil {
		return err
	}
	defer few.close()
	many, err := l.site(ctx, "web-many", 2000, 10_000)
	if err != nil {
		return err
	}
	defer many.close()
	if err := settle(ctx); err != nil {
		return err
	}

	r.table("**The web page** with 2,000 sessions and 10,000 pipelines that have ended, beside 20 of each, while 200 events a second come")
	for _, measure := range []func(context.Context, *report, *site, *site) error{drawings, updates} {
		if err := measure(ctx, r, few, many); err != nil {
			return err
		}
	}
	if err := firstPage(ctx, r, many); err != nil {
		return err
	}
	r.measure("memory of the daemon, 20 sessions", figure{few.resident / 1e6, "MB", 0})
	r.measure("memory of the daemon, 2,000 sessions and 10,000 pipelines", figure{many.resident / 1e6, "MB", 0})
	return watchedHooks(ctx, l, r, many)
}

// webAddresses are the pages that are looked at: those of the navigation, and one session.
func webAddresses() (all []string) {
	for _, p := range web.Pages() {
		if p.Nav != "" {
			all = append(all, strings.TrimSuffix(p.Path, "{$}"))
		}
	}
	return append(all, "/sessions/"+markedSession)
}

// drawings measures how long a page takes to be read, drawn and sent whole.
func drawings(ctx context.Context, r *report, few, many *site) error {
	const limit, rounds = 2, 30
	endFew, endMany := few.feed(ctx), many.feed(ctx)
	for _, address := range webAddresses() {
		m, err := turns(rounds, 2, func(i int) (time.Duration, float64, error) {
			begun := time.Now()
			_, err := []*site{few, many}[i].get(ctx, address)
			return time.Since(begun), 0, err
		})
		if err != nil {
			return fmt.Errorf("%s: %w", address, err)
		}
		name := "GET " + shortened(address)
		r.reference(name+", 20 sessions", &m[0])
		r.row(name+", 2,000 sessions", &m[1], figure{m[1].ratioTo(&m[0]), "times 20 sessions", limit})
	}
	return cmp.Or(endFew(), endMany())
}

func shortened(address string) string { return strings.Replace(address, markedSession, "{id}", 1) }

// updates measures what browsers are sent, how long after an event, and what that costs the daemon.
func updates(ctx context.Context, r *report, few, many *site) error {
	const limit, rounds = 2, 3
	var seen [2]watched
	for range rounds {
		for i, s := range []*site{few, many} {
			if err := s.watch(ctx, &seen[i]); err != nil {
				return err
			}
		}
	}
	for _, address := range webAddresses() {
		if one, other := seen[0].each(address), seen[1].each(address); one > 0 {
			r.measure(fmt.Sprintf("bytes of an update of %s: %.1f kB, with 20 sessions %.1f kB", shortened(address), other/1e3, one/1e3),
				figure{other / one, "times 20 sessions", limit})
		}
	}
	r.reference("an event until a browser has it, 20 sessions", &seen[0].delay)
	r.row("an event until a browser has it, 2,000 sessions", &seen[1].delay, figure{seen[1].delay.ratioTo(&seen[0].delay), "times 20 sessions", limit})
	if seen[0].busy > 0 {
		r.measure("processor time of the daemon for an update of all pages, 20 sessions", figure{seen[0].cost(), "ms", 0})
		r.measure("processor time of the daemon for an update of all pages, 2,000 sessions", figure{seen[1].cost(), "ms", 0})
		r.measure("the same, against 20 sessions", figure{seen[1].cost() / seen[0].cost(), "times", limit})
	}
	return nil
}

// watchedHooks measures a stop with and without browsers that look on, in turns of some stops each.
func watchedHooks(ctx context.Context, l *lab, r *report, s *site) error {
	const limit, rounds, each = 1.1, 12, 20
	dir := l.path("web-plain")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	hook := s.hook(l, dir)
	end := s.feed(ctx)
	var all [2]series
	for round := range rounds {
		for _, i := range []int{round % 2, 1 - round%2} {
			if err := s.stops(ctx, l, hook, i*webBrowsers, each, &all[i]); err != nil {
				return err
			}
		}
	}
	r.reference("stopgate hook Stop, no browser", &all[0])
	r.row(fmt.Sprintf("stopgate hook Stop, %d browsers", webBrowsers), &all[1], figure{all[1].ratioTo(&all[0]), "times without", limit})
	return end()
}

// stops runs a hook some times while so many browsers look on.
func (s *site) stops(ctx context.Context, l *lab, hook *webStop, browsers, times int, to *series) error {
	open, err := s.open(ctx, browsers)
	if err != nil {
		return err
	}
	defer closeAll(open)
	for n := range warmUp + times {
		took, peak, err := l.run(ctx, hook.program)
		if err != nil {
			return err
		}
		if n >= warmUp {
			to.add(took, peak)
		}
	}
	return nil
}

// webStop is a stop of a session in which nothing is enforced.
type webStop struct {
	program
	prompt int
}

func (s *site) hook(l *lab, dir string) *webStop {
	h := &webStop{program: program{
		name: "hook", dir: dir, stdin: l.path("web-stop.json"), piped: true, args: []string{l.stopgate, "hook", "Stop"}, env: slices.Clone(s.env),
	}}
	h.before = func(context.Context) error {
		h.prompt++
		return write(h.stdin, fmt.Sprintf(`{"session_id":%q,"prompt_id":"%d","transcript_path":"%[3]s/t.jsonl","cwd":"%[3]s","hook_event_name":"Stop","stop_hook_active":false,"last_assistant_message":"Done."}`,
			sessionID(0), h.prompt, dir))
	}
	return h
}
