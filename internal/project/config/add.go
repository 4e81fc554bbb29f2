package config

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/project/document"
)

// Additions are what is added to a project's config.yml. What the file has already is not added again.
type Additions struct {
	Checks []*NewCheck // for changes anywhere in the project
	Hooks  []Command
	Deny   []Deny
	// Taken are names that no new check may have.
	Taken []string
}

// NewCheck is a check that is added. Another name is chosen where its own is taken.
type NewCheck struct {
	Name    string
	Command string
	Timeout time.Duration // 0: none
	// Fixes means that instructions for a fix are in the file Instructions.
	Fixes bool
}

// Instructions is the file of instructions for a fix, relative to .gauntlet.
func (c NewCheck) Instructions() string { return "fix/" + c.Name + ".md" }

// Add adds to the text of a config.yml as a person would: behind what is there, with every comment and
// every other line kept. The name is for faults. Nil text means that there is no such file yet.
func Add(name string, text []byte, a Additions) ([]byte, error) {
	project, err := parseProject(name, text)
	if err != nil {
		return nil, err
	}

	changed := string(text)
	put := func(e entry, way ...spot) error {
		longer, err := insert(changed, way, e)
		if err == nil {
			changed = longer
		}
		return err
	}

	want := project.counts()
	missing := a.without(project)
	if missing.Empty() {
		return text, nil
	}

	for _, c := range missing.Checks {
		err = errors.Join(err, put(c.entry(), spot{"entry_points", "."}, spot{key: "checks"}))
	}
	for _, c := range missing.Hooks {
		err = errors.Join(err, put(c.entry(), spot{key: "hooks"}, spot{key: string(c.Event)}))
	}
	for _, r := range missing.Deny {
		err = errors.Join(err, put(r.entry(), spot{key: "deny"}))
	}

	want.checks, want.hooks, want.deny = want.checks+len(missing.Checks), want.hooks+len(missing.Hooks), want.deny+len(missing.Deny)
	after, faults := parseProject(name, []byte(changed))
	if err != nil || faults != nil || after.counts() != want || !a.without(after).Empty() {
		return nil, &document.Faults{All: document.All{document.OfFile(name, "its layout does not allow adding to it", "add this yourself: "+missing.words())}}
	}
	return []byte(changed), nil
}

// extent is how much a file has of each kind: nothing may get lost.
type extent struct{ checks, hooks, deny int }

func (p *Project) counts() (s extent) {
	for _, e := range p.entryPoints {
		s.checks += len(e.checks)
	}
	for _, commands := range p.Hooks {
		s.hooks += len(commands)
	}
	s.deny = len(p.Deny)
	return s
}

// Empty reports whether there is nothing to add.
func (a Additions) Empty() bool { return len(a.Checks)+len(a.Hooks)+len(a.Deny) == 0 }

// without is what the project does not have yet. It gives new checks their names.
func (a Additions) without(project *Project) (missing Additions) {
	taken := slices.Clone(a.Taken)
	there := map[string]string{} // commands of the checks that the whole project has, by name
	for _, e := range project.entryPoints {
		for _, gate := range e.checks {
			taken = append(taken, gate.name.text)
			if gate.inline != nil && e.Path == "." {
				there[gate.name.text] = gate.inline.Command
			}
		}
	}

	for _, c := range a.Checks {
		base := c.Name
		for i := 2; there[c.Name] != c.Command && slices.Contains(taken, c.Name); i++ {
			c.Name = base + "-" + strconv.Itoa(i)
		}
		if there[c.Name] != c.Command {
			missing.Checks = append(missing.Checks, c)
		}
		taken = append(taken, c.Name)
	}

	for _, c := range a.Hooks {
		same := func(other Command) bool { return other.Match == c.Match && other.Run == c.Run }
		if !slices.ContainsFunc(project.Hooks[c.Event], same) {
			missing.Hooks = append(missing.Hooks, c)
		}
	}
	for _, r := range a.Deny {
		if !slices.ContainsFunc(project.Deny, r.equal) {
			missing.Deny = append(missing.Deny, r)
		}
	}
	return missing
}

func (r Deny) equal(other Deny) bool {
	return r.Tools == other.Tools && r.New == other.New && r.Message == other.Message &&
		slices.Equal(r.Paths, other.Paths) && slices.Equal(r.Commands, other.Commands)
}

// filled leaves out what is not set.
func (e entry) filled() entry {
	return slices.DeleteFunc(e, func(p pair) bool { return reflect.ValueOf(p.value).IsZero() })
}

func (c NewCheck) entry() entry {
	e := entry{{"name", c.Name}, {"command", c.Command}, {"timeout", int(c.Timeout.Seconds())}}
	if c.Fixes {
		e = append(e, pair{"fix_instructions", c.Instructions()})
	}
	return e.filled()
}

func (c Command) entry() entry {
	match, timeout, failure := c.Match, "", ""
	if match == defaultMatch {
		match = ""
	}
	if c.Timeout > 0 {
		timeout = strings.Replace(c.Timeout.String(), "m0s", "m", 1)
	}
	if (c.Event == hook.Stop) != (c.OnFailure == Block) {
		failure = string(c.OnFailure)
	}
	return entry{
		{"match", match}, {"run", c.Run}, {"timeout", timeout}, {"on_failure", failure}, {"message", c.Message}, {"output_lines", c.OutputLines},
	}.filled()
}

func (r Deny) entry() entry {
	return entry{{"tools", r.Tools}, {"paths", r.Paths}, {"new", r.New}, {"commands", r.Commands}, {"message", r.Message}}.filled()
}

// words are the additions on one line, for a person who adds them by hand.
func (a Additions) words() string {
	var parts []string
	list := func(key string, entries []string) {
		if len(entries) > 0 {
			parts = append(parts, fmt.Sprintf("%s: [%s]", key, strings.Join(entries, ", ")))
		}
	}
	var checks, deny []string
	for _, c := range a.Checks {
		checks = append(checks, c.entry().flow())
	}
	for _, r := range a.Deny {
		deny = append(deny, r.entry().flow())
	}
	hooks := map[hook.Event][]string{}
	for _, c := range a.Hooks {
		hooks[c.Event] = append(hooks[c.Event], c.entry().flow())
	}
	list("checks", checks)
	for _, event := range hook.Events() {
		list("hooks: "+string(event), hooks[event])
	}
	list("deny", deny)
	return strings.Join(parts, "; ")
}
