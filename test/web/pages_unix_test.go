//go:build unix

package web

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/web"
)

// addresses are where the pages with {id} in their paths are shown, by path, on the stage of
// TestEveryPage.
var addresses = map[string]func(s *stage) string{
	"/sessions/{id}": func(*stage) string { return "/sessions/" + toldSession },
	"/inbox/{id}": func(s *stage) string {
		all, err := s.Decisions(s.t.Context(), false)
		check(s.t, err)
		return "/inbox/" + all[0].ID
	},
	"/stops/{id}": func(*stage) string { return "/stops/" + reviewStop },
	"/pipelines/{id}": func(s *stage) string {
		owners, err := s.Pipelines(s.t.Context(), daemonapi.Filter{})
		check(s.t, err)
		at := slices.IndexFunc(owners, func(o daemonapi.Owner) bool { return o.Name == "release" && o.Status == "waiting" })
		return "/pipelines/" + owners[at].ID
	},
	"/jobs/{id}": func(*stage) string { return "/jobs/0123456789abcdef" }, // without a fleet; see TestIssue20PagesOfAFleet
}

// Each page in light and dark, on a phone and on a desk: it has no errors, asks no other host, is not
// wider than the window, and axe-core finds nothing.
func TestEveryPage(t *testing.T) {
	s := newStage(t, busy)
	s.fleet()
	s.story()
	b := open(t, s.ui().Link)
	b.clean()
	for _, p := range web.Pages() {
		address := strings.TrimSuffix(p.Path, "{$}")
		if strings.Contains(address, "{") {
			if addresses[p.Path] == nil {
				t.Errorf("no address for %s: add one to addresses", p.Path)
				continue
			}
			address = addresses[p.Path](s)
		}
		for _, width := range []int64{phone, desktop} {
			for _, dark := range []bool{false, true} {
				b.look(width, dark)
				b.visit(address)
				b.drawn()
				b.fits(width)
				b.axe()
				b.picture(fmt.Sprintf("%s-%d-%s", strings.ToLower(p.Title), width, map[bool]string{false: "light", true: "dark"}[dark]))
				b.clean()
			}
		}
	}
}

// A browser that is not signed in is told how to, on a page as readable as the others.
func TestIssue18TheWayInIsReadable(t *testing.T) {
	s := newStage(t, "")
	b := open(t, s.ui().Link)
	s.run("ui", "--yes", "--sign-out")
	b.sees("Run this in your own terminal") // the page that was open leads there by itself
	for _, dark := range []bool{false, true} {
		b.look(phone, dark)
		b.visit("/inbox")
		b.sees("Run this in your own terminal")
		b.fits(phone)
		b.axe()
		b.picture(fmt.Sprintf("enter-%t", dark))
	}
}
