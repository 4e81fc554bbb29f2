//go:build unix

package main

import (
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// loaded is what a browser says about the page that it has loaded: bytes with everything that belongs to
// it, and milliseconds since it asked.
type loaded struct {
	Page, All                 float64 // bytes as they were sent
	Answered, Readable, Ready float64
}

const askLoaded = `(() => {
	const [page] = performance.getEntriesByType("navigation");
	const parts = performance.getEntriesByType("resource").filter((part) => !part.name.includes("/live?"));
	return JSON.stringify({
		Page: page.transferSize, All: parts.reduce((sum, part) => sum + part.transferSize, page.transferSize),
		Answered: page.responseEnd, Readable: page.domContentLoadedEventEnd, Ready: page.loadEventEnd,
	});
})()`

// firstPage measures the first page in a real browser that has nothing of it yet.
func firstPage(ctx context.Context, r *report, s *site) error {
	const kB, limit, rounds = 100, 300, 15
	ctx, end, err := browser(ctx)
	if err != nil {
		return err
	}
	defer end()
	link, err := s.link(ctx)
	if err != nil {
		return err
	}
	if err := chromedp.Do(ctx, chromedp.Navigate(link), chromedp.WaitReady("#main")); err != nil {
		return err
	}
	if _, err := chromedp.Call(ctx, network.SetCacheDisabled, network.SetCacheDisabledParams{CacheDisabled: true}); err != nil {
		return err
	}
	stop := s.feed(ctx)
	var answered, readable, ready series
	var last loaded
	for round := range warmUp + rounds {
		if last, err = s.load(ctx); err != nil {
			return err
		}
		if round >= warmUp {
			answered.add(milliseconds(last.Answered), 0)
			readable.add(milliseconds(last.Readable), 0)
			ready.add(milliseconds(last.Ready), 0)
		}
	}
	r.measure("first page in Chromium: the page alone, compressed", figure{last.Page / 1e3, "kB", 0})
	r.measure("first page in Chromium: with all that belongs to it", figure{last.All / 1e3, "kB", kB})
	r.row("first page in Chromium: it is there", &answered, figure{answered.median().Seconds() * 1e3, "ms", 0})
	r.row("first page in Chromium: it can be read", &readable, figure{readable.median().Seconds() * 1e3, "ms", 0})
	r.row("first page in Chromium: all of it is loaded", &ready, figure{ready.median().Seconds() * 1e3, "ms", limit})
	return stop()
}

func milliseconds(n float64) time.Duration { return time.Duration(n * float64(time.Millisecond)) }

// load opens the page Now.
func (s *site) load(ctx context.Context) (l loaded, err error) {
	if err := chromedp.Do(ctx, chromedp.Navigate(s.url+"/"), chromedp.WaitReady("#main")); err != nil {
		return l, err
	}
	err = until(ctx, "the page is loaded", func() bool {
		text, failed := chromedp.Run(ctx, chromedp.Evaluate[string](askLoaded))
		if failed == nil {
			failed = json.Unmarshal([]byte(text), &l)
		}
		return failed == nil && l.Ready > 0
	})
	return l, err
}

// browser starts Chromium, in a home of its own.
func browser(ctx context.Context) (_ context.Context, end func(), err error) {
	path, err := exec.LookPath("chromium-headless-shell")
	if err != nil {
		if path, err = exec.LookPath("chromium"); err != nil {
			return nil, nil, errors.New("there is no chromium: scripts/setup-tests installs it")
		}
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.Flag("disable-dev-shm-usage", true))
	allocator, endAllocator := chromedp.NewExecAllocator(ctx, options...)
	ctx, endContext := chromedp.NewContext(allocator)
	return ctx, func() {
		endContext()
		endAllocator()
	}, nil
}
