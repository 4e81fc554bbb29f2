package runbook

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Trigger is the field of an agent that says what is done when something happens to it.
type Trigger string

// The triggers that take actions. on_stop is a question of its own: StopAction.
const (
	OnIdle   Trigger = "on_idle"
	OnDead   Trigger = "on_dead"
	OnPrompt Trigger = "on_prompt"
	OnError  Trigger = "on_error"
)

// Actions are all there are.
func Actions() []ActionKind { return []ActionKind{Nudge, Done, Fail, Resume, Escalate, Gate} }

// StopActions are those of on_stop.
func StopActions() []StopAction { return []StopAction{StopSignal, StopIdle, StopEscalate} }

// ErrorKinds are what on_error tells apart.
func ErrorKinds() []ErrorKind {
	return []ErrorKind{Unauthorized, OutOfCredits, NoInternet, RateLimited, OtherError}
}

// WhyNot says why an action cannot be taken upon a trigger, or "".
func (k ActionKind) WhyNot(t Trigger) string {
	switch {
	case k == Nudge && t == OnDead:
		return "the agent has ended, so nobody would read the message; resume starts it again"
	case k == Nudge && t == OnError:
		return "a message does not fix an error of the model's API; resume starts the agent again"
	case k == Nudge && t == OnPrompt:
		return "the agent waits at a dialog, and what is typed would answer that"
	case k == Done && t == OnError:
		return "an error is no sign that the work is done; a gate can tell"
	case k == Resume && (t == OnIdle || t == OnPrompt):
		return "resume starts an agent again after its end, and this one is still running"
	}
	return ""
}

// repeats reports whether attempts are counted for the action. The others end the step or
// ask a person, so that there is no second time.
func (k ActionKind) repeats() bool { return k == Nudge || k == Resume || k == Gate }

// maxCooldown is longer than anybody waits.
const maxCooldown = 30 * 24 * time.Hour

// action reads a word, or a table with options. Attempts stay 0 where nothing is said.
func (v value) action(t Trigger, to *Action, more ...field) {
	if v.node.kind != tableKind {
		v.actionKind(t, to)
		if to.Kind == Gate {
			v.fault("gate needs a command to run", `write { action = "gate", run = "…" }`)
		}
		return
	}
	v.table(append(more,
		field{key: "action", required: true, read: func(v value) { v.actionKind(t, to) }},
		field{key: "message", read: func(v value) { v.words(&to.Message) }},
		field{key: "append", read: func(v value) { v.boolean(&to.Append) }},
		field{key: "run", read: func(v value) { v.script(&to.Run) }},
		field{key: "attempts", read: func(v value) { v.attempts(&to.Attempts) }},
		field{key: "cooldown", read: func(v value) { v.duration(&to.Cooldown) }},
	)...)
	if to.Kind != "" {
		v.options(to.Kind)
	}
}

func (v value) actionKind(t Trigger, to *Action) {
	var kind ActionKind
	if !oneOf(v, "action", &kind, Actions()...) {
		return
	}
	if why := kind.WhyNot(t); why != "" {
		v.fault(string(kind)+" is not possible for "+string(t)+": "+why, "")
		return
	}
	to.Kind = kind
}

// options records options that mean nothing for the action, and those that it lacks.
func (v value) options(kind ActionKind) {
	takers := []struct {
		option string
		kinds  []ActionKind
	}{
		{"message", []ActionKind{Nudge, Resume}},
		{"append", []ActionKind{Resume}},
		{"run", []ActionKind{Gate}},
		{"attempts", []ActionKind{Nudge, Resume, Gate}},
		{"cooldown", []ActionKind{Nudge, Resume, Gate}},
	}
	for _, t := range takers {
		e := v.node.get(t.option)
		if e == nil || slices.Contains(t.kinds, kind) {
			continue
		}
		v.d.fault(e.at, t.option+" means nothing for "+string(kind), "it is an option of: "+join(t.kinds))
	}
	if kind == Gate && v.node.get("run") == nil {
		v.fault("gate needs a command to run", "add run = \"…\"")
	}
}

func join[T ~string](words []T) string {
	out := make([]string, len(words))
	for i, word := range words {
		out[i] = string(word)
	}
	return strings.Join(out, ", ")
}

// attempts reads a number, or "forever".
func (v value) attempts(to *int) {
	if v.node.kind == textKind && v.node.text == "forever" {
		*to = Forever
		return
	}
	number, ok := v.whole()
	switch {
	case ok:
		*to = number
	case v.node.kind != brokenKind:
		v.fault(`attempts must be a whole number, 1 or more, or "forever"`, "")
	}
}

func (v value) duration(to *time.Duration) {
	const hint = `such as: "30s", "5m", "1h30m"`
	if !v.is(textKind, hint) {
		return
	}
	length, err := time.ParseDuration(v.node.text)
	switch {
	case err != nil:
		v.fault(v.name+" "+quote(v.node.text)+" is no duration", hint)
	case length <= 0 || length > maxCooldown:
		v.fault(v.name+" must be more than 0 and at most "+strconv.Itoa(int(maxCooldown.Hours()))+"h", hint)
	default:
		*to = length
	}
}

// onError reads one action, or a list of them with what each is for.
func (v value) onError(to *[]ErrorAction) {
	if v.node.kind != listKind {
		*to = []ErrorAction{v.errorAction()}
		return
	}
	places := map[ErrorKind]span{}
	v.list("", func(v value) {
		entry := v.errorAction()
		if first, all := places[""]; all && !v.d.overflow {
			v.fault("this is never reached: what is on line "+strconv.Itoa(v.d.line(first))+" is done about every error", "put it before that")
		} else if first, again := places[entry.Match]; again && !v.d.overflow {
			v.fault("this is never reached: "+quote(string(entry.Match))+" is already on line "+strconv.Itoa(v.d.line(first)), "")
		}
		places[entry.Match] = v.node.at
		*to = append(*to, entry)
	})
}

func (v value) errorAction() (a ErrorAction) {
	v.action(OnError, &a.Action, field{key: "match", read: func(v value) {
		oneOf(v, "error", &a.Match, ErrorKinds()...)
	}})
	return a
}

// onStop reads one of on_stop's own actions, alone or in a table.
func (v value) onStop(to *StopAction) {
	if v.node.kind == tableKind {
		v.table(field{key: "action", required: true, read: func(v value) { v.onStop(to) }})
		return
	}
	if v.node.kind == textKind && slices.Contains(Actions(), ActionKind(v.node.text)) && v.node.text != string(StopEscalate) {
		v.fault("on_stop cannot be "+quote(v.node.text)+": that is an action of on_idle",
			"write on_stop = \"idle\" and on_idle = \""+v.node.text+"\"; on_stop is one of: "+join(StopActions()))
		return
	}
	oneOf(v, "action of on_stop", to, StopActions()...)
}
