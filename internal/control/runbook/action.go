package runbook

import (
	"slices"
	"strconv"

	"github.com/stopgate/stopgate/internal/project/document"
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
		return "the agent has ended and cannot get a message; resume restarts it"
	case k == Nudge && t == OnError:
		return "a message does not fix an error of the model's API; resume restarts the agent"
	case k == Nudge && t == OnPrompt:
		return "the agent waits at a dialog, and typed text would answer it"
	case k == Done && t == OnError:
		return "an error does not mean that the work is done; use a gate to check"
	case k == Resume && (t == OnIdle || t == OnPrompt):
		return "resume restarts an agent that has ended, and this one is still running"
	}
	return ""
}

// repeats reports whether attempts are counted for the action. The others end the step or
// ask a person, so that there is no second time.
func (k ActionKind) repeats() bool { return k == Nudge || k == Resume || k == Gate }

// action reads a word, or a table with options. Attempts stay 0 where nothing is said.
func (d *decoder) action(t Trigger) typeOf[Action] {
	return document.New(
		func(v value, to *Action) bool { return d.readAction(v, t, to) },
		func() schema { return d.actionSchema(t) },
	)
}

func (d *decoder) readAction(v value, t Trigger, to *Action, more ...field) bool {
	if v.Node.Kind() != document.Mapping {
		ok := kindFor(t).Read(v, &to.Kind)
		if to.Kind == Gate {
			wrong(v, "gate needs a command to run", `write { action = "gate", run = "…" }`)
		}
		return ok
	}
	fields := append(more, document.Key("action", &to.Kind, kindFor(t), "").Needed())
	options := d.options(to)
	for _, o := range options {
		fields = append(fields, o.field)
	}
	if v.Mapping(fields...) && to.Kind != "" {
		checkOptions(v, to.Kind, options)
	}
	return true
}

// kindFor reads an action that a trigger can have.
func kindFor(t Trigger) typeOf[ActionKind] {
	return document.Then(oneOf("action", Actions()...), func(v value, kind ActionKind) (ActionKind, bool) {
		why := kind.WhyNot(t)
		if why != "" {
			wrong(v, string(kind)+" cannot be used with "+string(t)+": "+why, "")
		}
		return kind, why == ""
	})
}

// option is a field of some actions.
type option struct {
	field
	kinds []ActionKind
}

func (d *decoder) options(to *Action) []option {
	repeated := []ActionKind{Nudge, Resume, Gate}
	return []option{
		{document.Key("message", &to.Message, d.words(), "The message."), []ActionKind{Nudge, Resume}},
		{document.Key("append", &to.Append, document.Flag, "Continue the old conversation.").Default(false), []ActionKind{Resume}},
		{document.Key("run", &to.Run, d.script(), "A shell command: exit code 0 means done."), []ActionKind{Gate}},
		{document.Key("attempts", &to.Attempts, attempts, "The number of attempts before a person is asked. Default: 1."), repeated},
		{document.Key("cooldown", &to.Cooldown, duration, "The minimum time between two attempts."), repeated},
	}
}

// checkOptions records options that mean nothing for the action, and those that it lacks.
func checkOptions(v value, kind ActionKind, options []option) {
	table := nodeOf(v)
	for _, o := range options {
		e := table.get(o.Name)
		if e == nil || slices.Contains(o.kinds, kind) {
			continue
		}
		v.Source.Fault(mark{v.Node.(placed).source, e.at}, o.Name+" has no effect for "+string(kind), "it is an option of: "+join(o.kinds))
	}
	if kind == Gate && table.get("run") == nil {
		wrong(v, "gate needs a command to run", "add run = \"…\"")
	}
}

// actionSchema describes a word, or a table for each action with the options that it has.
func (d *decoder) actionSchema(t Trigger) schema {
	var bare []ActionKind
	forms := []schema{nil}
	for _, kind := range Actions() {
		if kind.WhyNot(t) != "" {
			continue
		}
		if kind != Gate {
			bare = append(bare, kind)
		}
		forms = append(forms, d.tableOf(kind, t))
	}
	forms[0] = document.Enum(bare...)
	return document.AnyOf(forms...)
}

// tableOf describes the table of one action.
func (d *decoder) tableOf(kind ActionKind, t Trigger) schema {
	fields := []field{{Name: "action", Required: true, Type: func() schema { return schema{"const": kind} }}}
	if t == OnError {
		fields = append(fields, matchField(new(ErrorAction)))
	}
	for _, o := range d.options(new(Action)) {
		if !slices.Contains(o.kinds, kind) {
			continue
		}
		f := o.field
		f.Required = o.Name == "run"
		if kind == Resume && o.Name == "message" {
			f.Says = "Replaces the prompt or, with append, continues the old conversation."
		}
		fields = append(fields, f)
	}
	return document.Properties(fields...)
}

// attempts is a number, or "forever".
var attempts = document.New(readAttempts, func() schema { return document.AnyOf(count.Schema(), schema{"const": "forever"}) })

func readAttempts(v value, to *int) bool {
	if v.Node.Kind() == document.Text && v.Node.Text() == "forever" {
		*to = Forever
		return true
	}
	return readCount(v, to, `attempts must be a whole number, 1 or more, or "forever"`)
}

// onError reads one action, or a list of them with what each is for.
func (d *decoder) onError() typeOf[[]ErrorAction] {
	return document.New(d.readOnError, func() schema {
		one := d.actionSchema(OnError)
		return document.AnyOf(one, schema{"type": "array", "items": one})
	})
}

func (d *decoder) readOnError(v value, to *[]ErrorAction) bool {
	if v.Node.Kind() != document.List {
		*to = []ErrorAction{d.errorAction(v)}
		return true
	}
	places := map[ErrorKind]span{}
	items, _ := v.List("")
	for _, item := range items {
		entry := d.errorAction(item)
		if first, all := places[""]; all && !d.Overflows() {
			wrong(item, "this is never reached: what is on line "+strconv.Itoa(d.line(first))+" handles every error", "move it before that line")
		} else if first, again := places[entry.Match]; again && !d.Overflows() {
			wrong(item, "this is never reached: "+quote(string(entry.Match))+" is already on line "+strconv.Itoa(d.line(first)), "")
		}
		places[entry.Match] = nodeOf(item).at
		*to = append(*to, entry)
	}
	return true
}

func (d *decoder) errorAction(v value) (a ErrorAction) {
	d.readAction(v, OnError, &a.Action, matchField(&a))
	return a
}

func matchField(a *ErrorAction) field {
	return document.Key("match", &a.Match, oneOf("error", ErrorKinds()...), "The kind of error. Default: all.")
}

// onStop is one of on_stop's own actions, alone or in a table.
var onStop = document.New(readOnStop, func() schema {
	one := document.Enum(StopActions()...)
	return document.AnyOf(one, document.Properties(field{Name: "action", Required: true, Type: func() schema { return one }}))
})

func readOnStop(v value, to *StopAction) bool {
	if v.Node.Kind() == document.Mapping {
		return v.Mapping(field{Name: "action", Required: true, Read: func(v value) { readOnStop(v, to) }})
	}
	word := v.Node.Text()
	if v.Node.Kind() == document.Text && slices.Contains(Actions(), ActionKind(word)) && word != string(StopEscalate) {
		wrong(v, "on_stop cannot be "+quote(word)+": that is an action of on_idle",
			"write on_stop = \"idle\" and on_idle = \""+word+"\"; on_stop is one of: "+join(StopActions()))
		return false
	}
	return oneOf("action of on_stop", StopActions()...).Read(v, to)
}
