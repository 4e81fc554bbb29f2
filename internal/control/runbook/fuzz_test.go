package runbook

import (
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func FuzzTOML(f *testing.F) { fuzzRunbook(f, "toml") }

func FuzzHCL(f *testing.F) { fuzzRunbook(f, "hcl") }

// FuzzOddjobs reads HCL as oddjobs writes it.
func FuzzOddjobs(f *testing.F) {
	for _, name := range []string{"sound/release.hcl", "refused/everything.hcl"} {
		text, err := os.ReadFile("testdata/oddjobs/" + name)
		check(f, err)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		d := newDecoder(origin{read: noFile, oddjobs: true}, "x.hcl", "x.hcl", text)
		d.read()
		if book := d.book(); len(d.allFaults()) == 0 {
			for _, c := range book.Commands {
				complete(t, book, c)
			}
		}
	})
}

func fuzzRunbook(f *testing.F, format string) {
	for _, name := range []string{"testdata/sound/build.", "testdata/faults/every."} {
		text, err := os.ReadFile(name + format)
		check(f, err)
		f.Add(text)
	}
	f.Add([]byte("a = \"${"))
	f.Add([]byte(`a = "` + strings.Repeat("%{if a}", 300) + `"`))
	f.Add([]byte(`a = "` + strings.Repeat("$", 3000) + `"`))
	f.Add([]byte(`a = "` + strings.Repeat(`$$$${""}`, 500) + `"`))
	f.Add([]byte("[command.c]\nargs = \"<a"))
	f.Add([]byte(importingBook[format]))
	f.Add([]byte(libraryBook[format]))
	f.Add([]byte("[[import]]\nlibrary = \"wait\"\nconst = { until = \"true\", tries = [1] }\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		read := func(name string) ([]byte, error) {
			if strings.Contains(name, "..") {
				t.Fatalf("%q is read", name)
			}
			return []byte("Do it."), nil
		}
		book, faults := Parse("x."+format, text, read)
		again, same := Parse("x."+format, text, read)
		if diff := cmp.Diff(faults, same); diff != "" {
			t.Fatalf("not the same faults\n%s", diff)
		}
		lines := strings.Count(string(text), "\n") + 1
		for _, fault := range append(faults, book.Warnings...) {
			if fault.File == "x."+format && fault.Line > lines || (fault.Line > 0) != (fault.Column > 0) || fault.Message == "" || !utf8.ValidString(fault.Detail()) {
				t.Fatalf("%+v", fault)
			}
		}
		if len(faults) > 0 {
			return
		}
		if diff := cmp.Diff(book, again); diff != "" {
			t.Fatalf("not the same runbook\n%s", diff)
		}
		for _, c := range book.Commands {
			complete(t, book, c)
		}
	})
}

// complete fails where a checked command cannot be run.
func complete(t *testing.T, book Runbook, c Command) {
	t.Helper()
	plan, standalone := book.Plan(c)
	if size := jsonSize(plan); size > maxPlan {
		t.Fatalf("a plan of %d bytes", size)
	}
	if len(plan.Pipeline.Steps) == 0 || standalone && len(plan.Pipeline.Steps) != 1 {
		t.Fatalf("%d steps", len(plan.Pipeline.Steps))
	}
	steps := map[string]bool{"": true}
	for _, s := range plan.Pipeline.Steps {
		if steps[s.Name] || IsEnd(s.Name) {
			t.Fatalf("step %q", s.Name)
		}
		steps[s.Name] = true
	}
	for _, s := range plan.Pipeline.Steps {
		if !steps[s.OnDone] || !steps[s.OnFail] || !steps[s.OnCancel] {
			t.Fatalf("a transition of %+v leads nowhere", s)
		}
		if s.Approval != nil && s.Approval.Answerable() && s.Run == (Run{}) {
			continue
		}
		if used, known := plan.Pipelines[s.Run.Pipeline]; known && len(used.Steps) > 0 {
			continue
		}
		if (s.Run.Shell == "") == (s.Run.Agent == "") || s.Run.Agent != "" && plan.Agents[s.Run.Agent].Run == "" {
			t.Fatalf("step %q has nothing to run", s.Name)
		}
	}
	for _, a := range plan.Agents {
		for _, action := range actionsOf(&a) {
			if action.Kind == "" || action.Attempts == 0 || (action.Kind == Gate) != (action.Run != "") {
				t.Fatalf("%+v", action)
			}
		}
	}
}

func FuzzArgSpec(f *testing.F) {
	f.Add("<a> [b] [--c <d>] -e/--f [g...]", "x\ny\n--c\nz\n-e")
	f.Add("[a...]", "--\n--b")
	f.Fuzz(func(t *testing.T, text, args string) {
		spec, err := parseArgSpec(text)
		if err != nil {
			if at := err.(*ArgSpecError).At; at < 0 || at > len(text) {
				t.Fatalf("%v at %d of %d", err, at, len(text))
			}
			return
		}
		again, err := parseArgSpec(spec.String())
		if diff := cmp.Diff(spec, again); diff != "" || err != nil {
			t.Fatalf("%q is %q: %v\n%s", text, spec, err, diff)
		}
		values, err := spec.parse(strings.Split(args, "\n"), nil)
		if err != nil {
			return
		}
		for _, a := range spec.Args {
			value, given := values[a.Name]
			if a.Required && !given || strings.ContainsRune(value, 0) {
				t.Fatalf("%s: %q", a, values)
			}
		}
	})
}

func FuzzExpand(f *testing.F) {
	f.Add(`echo "${var.x}"`, "a$b")
	f.Add("${${var.x}}", "}")
	f.Fuzz(func(t *testing.T, text, value string) {
		if got := Expand(text, nil); got != text {
			t.Fatalf("without values %q becomes %q", text, got)
		}
		vars := map[string]string{"var.x": value}
		got, want := Expand(text, vars), strings.ReplaceAll(text, "${var.x}", value)
		if got != want {
			t.Fatalf("%q with %q: got %q, want %q", text, value, got, want)
		}
		if got := ExpandShell(text, vars); got != strings.ReplaceAll(text, "${var.x}", escaped(value)) {
			t.Fatalf("%q with %q: %q", text, value, got)
		}
		for i, b := range []byte(escaped(value)) {
			before := escaped(value)[:i]
			odd := (len(before)-len(strings.TrimRight(before, `\`)))%2 == 1
			if strings.IndexByte("$`\"", b) >= 0 && !odd {
				t.Fatalf("%q is escaped as %q", value, escaped(value))
			}
		}
	})
}
