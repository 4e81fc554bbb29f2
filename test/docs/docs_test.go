package docs

import (
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

var check = checktest.OK

const repository = "../.."

func TestMain(m *testing.M) {
	environtest.Clean()
	m.Run()
}

func pages(t *testing.T) []Page {
	t.Helper()
	all, err := Pages(repository)
	check(t, err)
	if len(all) < 30 {
		t.Fatalf("only %d pages", len(all))
	}
	return all
}

func TestRead(t *testing.T) {
	p := Read("x.md", "# A `b` [c](d.md), e\n\n<!-- not run: why -->\n```sh\nx [no](link.md)\n```\n- item\n  ```console\n  $ echo 1\n  1\n  ```\n[f](g.md#h)\n# A b c e\n")
	want := []Block{{4, "sh", "x [no](link.md)\n", "not run: why"}, {8, "console", "$ echo 1\n1\n", ""}}
	if diff := cmp.Diff(want, p.Blocks); diff != "" {
		t.Error(diff)
	}
	if !p.Blocks[0].NotRun() || p.Blocks[1].Script() != "echo 1\n" {
		t.Errorf("%+v", p.Blocks)
	}
	if diff := cmp.Diff([]Link{{1, "d.md"}, {12, "g.md#h"}}, p.Links()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]bool{"a-b-c-e": true, "a-b-c-e-1": true}, p.Anchors()); diff != "" {
		t.Error(diff)
	}
}

func TestCommands(t *testing.T) {
	p := Read("x.md", "`stopgate log -n 3`, `stopgate on\\|off`\n```sh\nA=1 stopgate init --check \"make $x\" # why\ncat > f <<END\nstopgate no\nEND\n```\n```\nstopgate run\nother\n```\n```text\nstopgate no\n```\n")
	commands, err := p.Commands("stopgate")
	check(t, err)
	want := []Command{{2, []string{"stopgate", "init", "--check", "make "}}, {8, []string{"stopgate", "run"}}, {1, []string{"stopgate", "log", "-n", "3"}}}
	if diff := cmp.Diff(want, commands); diff != "" {
		t.Error(diff)
	}
}

func TestMissing(t *testing.T) {
	shown := Read("x.md", "```console\n$ a\nb … 12s\n…\nc\n$ d\n```").Blocks[0].Console()
	for printed, want := range map[string]string{
		"x\nb and so on 9s \ny\nc\n": "",
		"b  1s\nno\n":                "c",
		"c\nb  1s\n":                 "c",
		"":                           "b … 12s",
	} {
		if got := shown[0].Missing(printed); got != want {
			t.Errorf("%q lacks %q, want %q", printed, got, want)
		}
	}
	if len(shown) != 2 || shown[1].Command != "d" || shown[1].Missing("") != "" {
		t.Errorf("%+v", shown)
	}
}

// A block that shows commands of ours says so, and is run or says why not. What --help prints is made by the programs.
func TestBlocksOfCommandsAreMarked(t *testing.T) {
	for _, p := range pages(t) {
		for _, b := range p.Blocks {
			if b.Language == "" && p.Name != "docs/reference/commands.md" && ofOurs.MatchString(b.Text) {
				t.Errorf("%s:%d: mark this block as sh, with a comment above it where it cannot be run", p.Name, b.Line)
			}
		}
	}
}

var ofOurs = regexp.MustCompile(`(?m)^(?:\$ )?(?:stopgate|stopgated|ccc|oj) `)

// Links lead to files, headings and pictures that are there.
func TestLinks(t *testing.T) {
	anchors := map[string]map[string]bool{}
	for _, p := range pages(t) {
		anchors[p.Name] = p.Anchors()
	}
	for _, p := range pages(t) {
		for _, link := range p.Links() {
			target, err := url.Parse(link.Target)
			if err != nil {
				t.Errorf("%s:%d: %v", p.Name, link.Line, err)
				continue
			}
			if target.Scheme != "" {
				continue // the network is not asked
			}
			name := p.Name
			if target.Path != "" {
				name = path.Join(path.Dir(p.Name), target.Path)
			}
			if _, err := os.Stat(filepath.Join(repository, filepath.FromSlash(name))); err != nil {
				t.Errorf("%s:%d: %s leads nowhere", p.Name, link.Line, link.Target)
			}
			if target.Fragment != "" && !anchors[name][target.Fragment] {
				t.Errorf("%s:%d: %s has no heading #%s", p.Name, link.Line, name, target.Fragment)
			}
		}
	}
}

// The site's sidebar names pages and folders that are there.
func TestSidebar(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(repository, "tools", "site", "sections.mjs"))
	check(t, err)
	entries := regexp.MustCompile(`'((?:docs/|[A-Z]+\.md)[^']*)'`).FindAllStringSubmatch(string(text), -1)
	if len(entries) < 10 {
		t.Errorf("only %d entries", len(entries))
	}
	for _, entry := range entries {
		if _, err := os.Stat(filepath.Join(repository, filepath.FromSlash(entry[1]))); err != nil {
			t.Error(err)
		}
	}
}

// A page that another test walks names one that is there.
func TestWalkedByNamesATest(t *testing.T) {
	for _, p := range pages(t) {
		test := p.WalkedBy()
		if test == "" {
			continue
		}
		folder, name, _ := strings.Cut(test, " ")
		found := false
		sources, err := filepath.Glob(filepath.Join(repository, filepath.FromSlash(folder), "*_test.go"))
		check(t, err)
		for _, source := range sources {
			text, err := os.ReadFile(source)
			check(t, err)
			found = found || strings.Contains(string(text), "\nfunc "+name+"(")
		}
		if !found {
			t.Errorf("%s: there is no test %s", p.Name, test)
		}
	}
}
