package stops

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// GateName is how people are told of a gate: what goes without saying is left out, that it is a
// check and that it looks at the whole project.
func GateName(kind, name, entry string) string {
	if kind == "review" {
		name = "review " + name
	}
	if entry != "." {
		name += " in " + entry
	}
	return name
}

// JobName is GateName for the id of a job, such as check:src:lint. A gate's name holds no colon; the
// entry point may.
func JobName(job string) string {
	kind, rest, found := strings.Cut(job, ":")
	at := strings.LastIndexByte(rest, ':')
	if !found || at < 0 {
		return job
	}
	return GateName(kind, rest[at+1:], rest[:at])
}

// Headline says in one sentence how the stop was answered, and why.
func (s *Stop) Headline() string {
	switch s.Decision {
	case Unanswered:
		return "No answer: the hook is still running, or was killed before it enforced anything"
	case Rejected:
		return "Not checked: stopgate could not read what Claude Code sent: " + plain.FirstLine(message(s.By))
	case Blocked:
		return "Blocked: " + s.objection()
	case GaveUp:
		return "Allowed although " + s.surrender()
	}
	if s.Gap != nil {
		return s.Gap.sentence()
	}
	return "Allowed" + s.consent()
}

// Short is the headline in a few words, for where there is little room.
func (s *Stop) Short() string {
	switch {
	case s.Decision == Unanswered:
		return "no answer"
	case s.Gap != nil:
		return "not enforced: " + s.Gap.Kind.Word()
	case s.Decision == Blocked:
		return s.objection()
	case s.Decision == GaveUp:
		return cmp.Or(s.named(event.GateFailed), s.By.Keeper) + " still failing"
	case s.By == nil || s.By.Keeper != gatesKeeper || s.By.Outcome != passed:
		return strings.TrimLeft(strings.TrimPrefix(strings.TrimLeft(s.consent(), ":, "), "but"), ": ")
	}
	switch n := s.Counts(); {
	case s.By.Status == event.StatusUnchanged:
		return strings.TrimSpace("unchanged " + since(s.unchanged()))
	case n[event.GatePassed]+n[event.GateProven] > 0:
		return plain.Count(n[event.GatePassed]+n[event.GateProven], "gate") + " passed"
	default:
		return strings.ReplaceAll(s.By.Status, "_", " ")
	}
}

// objection is what blocked the stop.
func (s *Stop) objection() string {
	if s.Adopted {
		return "another stopgate entry in the settings blocked this stop, and this call gave the same answer"
	}
	if s.By != nil && s.By.Keeper == gatesKeeper {
		if failing := s.named(event.GateFailed); failing != "" {
			return failing + " failed"
		}
	}
	return plain.FirstLine(message(s.By))
}

// surrender is what still fails at a stop that was allowed.
func (s *Stop) surrender() string {
	switch {
	case s.By.Status == event.StatusRetryLimit:
		fail := "fail"
		if s.Counts()[event.GateFailed] == 1 {
			fail = "fails"
		}
		return cmp.Or(s.named(event.GateFailed), "the gates") + " still " + fail + ": the retry limit is reached"
	case s.By.Status == "needs_person":
		return "protected files wait for approval: " + plain.FirstLine(message(s.By))
	}
	return "it is not fixed: " + plain.FirstLine(message(s.By))
}

// consent is why a stop was allowed that something could have held back.
func (s *Stop) consent() string {
	switch {
	case s.By == nil:
		return ""
	case s.By.Outcome == failed:
		return ", but: " + plain.FirstLine(message(s.By))
	case s.By.Outcome == couldNotRun:
		return ", but not everything was checked: " + plain.FirstLine(message(s.By))
	case s.By.Keeper != gatesKeeper && s.By.Message != "":
		return ": " + plain.FirstLine(s.By.Message)
	case s.By.Keeper != gatesKeeper:
		return ": " + strings.ReplaceAll(s.By.Keeper+" "+s.By.Status, "_", " ")
	}

	switch s.By.Status {
	case event.StatusNoApplicableGates:
		return ": no gate covers what changed"
	case event.StatusUnchanged:
		if s.unchanged() == event.SinceReads {
			return ": the agent only read"
		}
		return ": nothing has changed here " + cmp.Or(since(s.unchanged()), "since the gates passed, or since the session began")
	case event.StatusPassedWithWarnings:
		return " with warnings: " + plain.FirstLine(message(s.By))
	}
	n := s.Counts()
	ran, proven := n[event.GatePassed], n[event.GateProven]
	switch {
	case ran+proven == 0:
		return ": " + strings.ReplaceAll(s.By.Status, "_", " ")
	case ran == 0:
		return fmt.Sprintf(": %s passed earlier for exactly this content", plain.Count(proven, "gate"))
	case proven > 0:
		return fmt.Sprintf(": %s passed, %d of them earlier for exactly this content", plain.Count(ran+proven, "gate"), proven)
	}
	return fmt.Sprintf(": %s passed", plain.Count(ran, "gate"))
}

// since says since when a tree is unchanged.
func since(when string) string {
	return map[string]string{
		event.SincePass:   "since the gates passed",
		event.SinceStart:  "since the session began",
		event.SincePrompt: "since the last prompt",
		event.SinceStop:   "since the last stop",
		event.SinceReads:  "by this session: the agent only read",
		event.SincePlan:   "that gates look at: the agent only plans",
	}[when]
}

// unchanged is since when all trees are unchanged; "" where the record does not say it, or says several
// things.
func (s *Stop) unchanged() (word string) {
	for i := range s.Trees {
		if i > 0 && s.Trees[i].Since != word {
			return ""
		}
		word = s.Trees[i].Since
	}
	return word
}

// named lists the gates with an outcome by their names.
func (s *Stop) named(outcome string) string {
	var names []string
	s.Asked(func(_ *event.Tree, g *event.Gate) {
		if g.Outcome == outcome {
			names = append(names, JobName(g.Job))
		}
	})
	const most = 4
	names = plain.Few(names, most)
	switch n := len(names); {
	case n == 0:
		return ""
	case n == 1 || n > most:
		return strings.Join(names, ", ")
	default:
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
}

// gapWords are a gap in a word or two, what it comes to where no keeper says it, and how a person closes it.
type gapWords struct {
	kind             GapKind
	word, what, next string
}

var gaps = []gapWords{
	{Off, "off", "stopgate is off here", "turn it on again: stopgate on"},
	{Untrusted, "not approved", "the project is not approved", "read what would run: stopgate trust --show; then approve it: stopgate trust"},
	{BadConfig, "invalid configuration", "the configuration cannot be used", "show all problems: stopgate validate"},
	{ForeignOwner, "another user's project", "the project belongs to another user", "see what is enforced: stopgate doctor"},
	{Observing, "mode: observe", "mode is observe", "to block such stops, remove mode: observe from the configuration (stopgate status shows which one)"},
	{NotJudged, "gates not asked", "the gates were not asked", "see the settings that are in force: stopgate status"},
	{CouldNotRun, "could not run", "the gates could not run", "find out what is missing: stopgate doctor"},
	{NoProject, "no project", "there is no project", "set one up: stopgate init"},
	{NothingSet, "nothing set up", "no gate, hook command or supervisor is set up for such a stop", "set up gates: stopgate init; see what is enforced: stopgate status"},
	{kind: NoAnswer, word: "no answer"},
	{kind: BadPayload, word: "unreadable payload"},
	{kind: APIError, word: "API error"},
}

func (k GapKind) words() gapWords {
	if i := slices.IndexFunc(gaps, func(w gapWords) bool { return w.kind == k }); i >= 0 {
		return gaps[i]
	}
	return gapWords{}
}

// Word is the gap in a word or two.
func (k GapKind) Word() string { return k.words().word }

func (g *Gap) sentence() string {
	if g.Kind == APIError {
		return "The turn ended with an API error (" + cmp.Or(g.Why, "unknown") + "), so there was nothing to check"
	}
	text := "Allowed, and nothing was enforced: "
	if g.Kind == NotJudged && g.Why != "" {
		return text + g.Kind.words().what + ": " + plain.FirstLine(g.Why)
	}
	return text + cmp.Or(plain.FirstLine(g.Why), g.Kind.words().what)
}

// Next says what a person can do about the stop, a step each; nothing where all is well.
func (s *Stop) Next() []string {
	switch {
	case s.Decision == Unanswered:
		return []string{"see whether gates are still running: stopgate status; test that a stop is blocked: stopgate doctor"}
	case s.Gap != nil:
		if next := s.Gap.Kind.words().next; next != "" {
			return []string{next}
		}
		return nil
	case s.By == nil || s.Decision == Rejected:
		return nil
	}

	steps := s.again()
	switch {
	case s.By.Outcome != failed:
	case s.By.Keeper == "supervisor":
		steps = append(steps, "see the reviews of the session: stopgate supervisor status")
	case s.By.Keeper == "protect":
		steps = append(steps, "look at the files, and approve them: stopgate approve")
	case s.By.Keeper == "lifecycle":
		steps = append(steps, "see the agent and its pipeline: stopgate agent list")
	}
	if s.By.Status == event.StatusRetryLimit {
		steps = append(steps, "to reset the retry limit, run in your own terminal: stopgate clean")
	}
	return steps
}

// again are the commands that run failed gates again.
func (s *Stop) again() (steps []string) {
	const most = 3
	reviews := false
	s.Asked(func(t *event.Tree, g *event.Gate) {
		kind, rest, _ := strings.Cut(g.Job, ":")
		name := rest[strings.LastIndexByte(rest, ':')+1:]
		if g.Outcome != event.GateFailed || kind != "check" && kind != "review" || len(steps) == most || !plain.IsWord(name, ".", 100) {
			return
		}
		step := fmt.Sprintf("after the fix, run: stopgate %s --gate %s", kind, name)
		if t.Root != s.Project {
			step += " (in " + t.Root + ")"
		}
		steps, reviews = append(steps, step), reviews || kind == "review"
	})
	if reviews {
		steps = append(steps, "read what the review found: stopgate violations list")
	}
	return steps
}
