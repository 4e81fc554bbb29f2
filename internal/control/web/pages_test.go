package web

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/lazyregexp"
)

// addressOf is an address of a page. IDs are those that fakePlane.fill uses.
func addressOf(p Page) string {
	path := strings.TrimSuffix(p.Path, "{$}")
	return strings.ReplaceAll(path, "{id}", "0123456789abcdef")
}

var (
	inline  = lazyregexp.New(`(?i)<style|<script>|<script [^>]*>[^<]|[ "']style=|[ "']on[a-z]+=|javascript:`)
	foreign = lazyregexp.New(`(?i)(?:src|href|action)="(?:https?:)?//`)
)

// Each page needs a sign-in, forbids browsers to load or run anything else, and has nothing in it that
// they would refuse.
func TestIssue18EveryPageIsGuarded(t *testing.T) {
	s := newScene(t)
	stranger, v := s.visitor(), s.signedIn()
	for _, p := range Pages() {
		t.Run(p.Template, func(t *testing.T) {
			address := addressOf(p)
			if r := stranger.get(address); r.status != http.StatusUnauthorized || strings.Contains(r.body, `id="nav"`) {
				t.Errorf("without a sign-in: %d", r.status)
			}
			r := v.get(address)
			if r.status != http.StatusOK && r.status != http.StatusNotFound {
				t.Errorf("status %d", r.status)
			}
			for name, want := range map[string]string{
				"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin", "Cache-Control": "no-store",
			} {
				if got := r.header.Get(name); got != want {
					t.Errorf("%s: %q", name, got)
				}
			}
			if found := inline.Get().FindString(r.body); found != "" {
				t.Errorf("inline: %q", found)
			}
			if found := foreign.Get().FindString(r.body); found != "" {
				t.Errorf("another host: %q", found)
			}
			if !strings.Contains(r.body, "<title>") || strings.Contains(r.body, blank) || strings.Contains(r.body, "ZgotmplZ") {
				t.Errorf("%.2000s", r.body)
			}
		})
	}
}
