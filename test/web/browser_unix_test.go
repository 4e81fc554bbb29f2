//go:build unix

package web

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

// The widths that pages are looked at.
const (
	phone   = 390
	desktop = 1440
)

// browser is a browser with one window, in a profile of its own.
type browser struct {
	t    *testing.T
	ctx  context.Context
	host string // of the site: nothing else may be asked

	mu    sync.Mutex
	wrong []string // what went wrong in pages since it was looked at last
}

// chromium finds Debian's headless browser, or the whole one.
func chromium(t *testing.T) string {
	t.Helper()
	if path, err := exec.LookPath("chromium"); err == nil {
		if shell, err := exec.LookPath("chromium-headless-shell"); err == nil {
			return shell
		}
		return path
	}
	return environtest.Need(t, "chromium-headless-shell")
}

// open starts a browser and signs it in by a link.
func open(t *testing.T, link string) *browser {
	t.Helper()
	u, err := url.Parse(link)
	check(t, err)
	profile := t.TempDir()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(chromium(t)), chromedp.NoSandbox, chromedp.UserDataDir(profile),
		chromedp.Env("HOME="+profile, "XDG_CONFIG_HOME="+profile, "XDG_CACHE_HOME="+profile, "TZ=UTC"),
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("hide-scrollbars", true),
	)
	allocator, endAllocator := chromedp.NewExecAllocator(t.Context(), options...)
	ctx, end := chromedp.NewContext(allocator)
	t.Cleanup(func() {
		end()
		endAllocator()
	})
	b := &browser{t: t, ctx: ctx, host: u.Host}
	go b.hear(chromedp.Console(ctx))
	go b.follow(chromedp.Events(ctx, network.RequestWillBeSent))
	b.look(desktop, false)
	b.visit(link)
	return b
}

// hear notes what pages complain of.
func (b *browser) hear(messages iter.Seq2[chromedp.ConsoleMessage, error]) {
	for m, err := range messages {
		if err == nil && (m.IsException() || m.Type == "error" || m.Type == "warning") {
			b.note(fmt.Sprintf("console: %s %s %s", m.Type, m.Text, m.URL))
		}
	}
}

// follow notes who else is asked.
func (b *browser) follow(requests iter.Seq2[network.EventRequestWillBeSent, error]) {
	for e, err := range requests {
		if err != nil {
			continue
		}
		if u, err := url.Parse(e.Request.URL); err != nil || u.Host != b.host && u.Scheme != "data" && u.Scheme != "blob" {
			b.note("another host is asked: " + e.Request.URL)
		}
	}
}

func (b *browser) note(what string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.wrong = append(b.wrong, what)
}

// clean fails the test where something went wrong in a page.
func (b *browser) clean() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, what := range b.wrong {
		b.t.Error(what)
	}
	b.wrong = nil
}

func (b *browser) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	check(b.t, chromedp.Do(b.ctx, actions...))
}

// look sets the width of the window and the colours that the person wants.
func (b *browser) look(width int64, dark bool) {
	b.t.Helper()
	height, scheme := int64(900), "light"
	if width == phone {
		height = 844
	}
	if dark {
		scheme = "dark"
	}
	_, err := chromedp.Call(b.ctx, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1, Mobile: width == phone})
	check(b.t, err)
	_, err = chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}})
	check(b.t, err)
}

// visit opens an address of the site, and waits until the page is there.
func (b *browser) visit(address string) {
	b.t.Helper()
	if strings.HasPrefix(address, "/") {
		address = b.eval("location.origin") + address
	}
	b.do(chromedp.Navigate(address), chromedp.WaitReady("#main"))
}

// eval is the value of an expression in the page, as text. Where the page just goes to another one, it is
// that in the other one.
func (b *browser) eval(expression string) (got string) {
	b.t.Helper()
	eventually(b.t, "the page stays", func() bool {
		value, err := chromedp.Run(b.ctx, chromedp.Evaluate[string]("String("+expression+")"))
		if err != nil && strings.Contains(err.Error(), "navigated") {
			return false
		}
		check(b.t, err)
		got = value
		return true
	})
	return got
}

// text is what a person reads in an element.
func (b *browser) text(selector string) string {
	b.t.Helper()
	return b.eval(fmt.Sprintf("document.querySelector(%q)?.innerText ?? ''", selector))
}

// sees waits until the page shows a text.
func (b *browser) sees(text string) {
	b.t.Helper()
	eventually(b.t, "the page shows "+text, func() bool { return strings.Contains(b.text("body"), text) })
}

// drawn waits until all charts of the page are drawn: their canvases are as wide as their places, and not
// empty.
func (b *browser) drawn() {
	b.t.Helper()
	const empty = `[...document.querySelectorAll('.canvas')].filter((place) => {
		const canvas = place.querySelector('canvas');
		if (!canvas || canvas.clientWidth < place.clientWidth - 1) return true;
		return !canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some((part) => part > 0);
	}).length`
	eventually(b.t, "the charts are drawn", func() bool { return b.eval(empty) == "0" })
}

// press presses a key, once the page listens to it.
func (b *browser) press(keys string) {
	b.t.Helper()
	eventually(b.t, "the script has run", func() bool { return b.eval("document.documentElement.dataset.ready") == "1" })
	b.do(chromedp.KeyEvent(keys))
}

// tap clicks an element as a thumb does.
func (b *browser) tap(selector string) {
	b.t.Helper()
	b.do(chromedp.Click(selector))
}

// picture saves what the whole page looks like.
func (b *browser) picture(name string) {
	b.t.Helper()
	shot, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	check(b.t, err)
	check(b.t, os.WriteFile(filepath.Join(b.t.ArtifactDir(), name+".png"), shot, 0o600))
}

// axe fails the test for what keeps people from reading the page: contrast, labels, order.
func (b *browser) axe() {
	b.t.Helper()
	script, err := os.ReadFile(filepath.Join("..", "client", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		environtest.Missing(b.t, "axe-core", err)
	}
	b.do(chromedp.Evaluate[chromedp.Void](string(script)))
	found, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](`axe.run(document, {resultTypes: ["violations"]}).then((r) => JSON.stringify(r.violations.map(
		(v) => ({id: v.id, help: v.help, nodes: v.nodes.map((n) => n.html + " " + n.failureSummary)}))))`, chromedp.EvalAwaitPromise))
	check(b.t, err)
	var violations []struct {
		ID, Help string
		Nodes    []string
	}
	check(b.t, json.Unmarshal([]byte(found), &violations))
	for _, v := range violations {
		b.t.Errorf("axe: %s: %s\n%s", v.ID, v.Help, strings.Join(v.Nodes, "\n"))
	}
}

// fits fails the test where the page is wider than the window. A phone shows such a page smaller, and
// calls that the width of its window.
func (b *browser) fits(width int64) {
	b.t.Helper()
	if b.eval(fmt.Sprintf("document.documentElement.scrollWidth > %[1]d || innerWidth > %[1]d", width)) == "true" {
		b.t.Errorf("the page is wider than the window: %s", b.eval(fmt.Sprintf(
			`[...document.querySelectorAll("main *")].filter((e) => e.getBoundingClientRect().right > %d).slice(0, 5).map((e) => e.outerHTML.slice(0, 200)).join("\n")`, width)))
	}
}
