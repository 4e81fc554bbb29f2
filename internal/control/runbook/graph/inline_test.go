package graph

import (
	"strings"
	"testing"
)

// A page has colours of its own and refuses what a picture brings with it: a graph in it has classes
// only, and says in words what it shows.
func TestIssue18InlineGraphHasClassesOnly(t *testing.T) {
	g := Of(fix())
	for i := range g.Nodes {
		g.Nodes[i].State = "done"
	}
	g.Nodes[0].State = "failed"
	g.Name = `<script>"&`
	picture := Inline(g)
	wellFormed(t, picture)
	text := string(picture)
	for _, bad := range []string{"<style", "style=", "<script", "#1a7f37", "xlink"} {
		if strings.Contains(text, bad) {
			t.Errorf("%q in %s", bad, text)
		}
	}
	for _, good := range []string{`class="step state-failed"`, `class="step state-done"`, "✗ " + g.Nodes[0].Name, g.Nodes[0].Name + " failed, "} {
		if !strings.Contains(text, good) {
			t.Errorf("no %q in %s", good, text)
		}
	}
}
