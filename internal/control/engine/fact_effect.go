package engine

import "slices"

// Facts about effects, and about the commands that they start.
type (
	// ActStarted is an effect that may take place from now on.
	ActStarted struct {
		Key string `json:"key"`
	}
	// ActDone is an effect that has taken place.
	ActDone struct {
		Key string `json:"key"`
	}
	// ActFailed is an effect that has not, and will not.
	ActFailed struct {
		Key  string `json:"key"`
		Why  string `json:"why"`
		Kept bool   `json:"kept,omitempty"` // the message is kept until it can be said
	}
	// ActLost is an effect of which nobody knows whether it took place.
	ActLost struct {
		Key string `json:"key"`
		Why string `json:"why,omitempty"`
	}
	// ActDropped is an effect that was not started and is no longer wanted.
	ActDropped struct {
		Key  string `json:"key"`
		Kept bool   `json:"kept,omitempty"` // likewise
	}
	// ShellStarted is a command that is to run: a step's, or the gate of a trigger.
	ShellStarted struct {
		Key  string `json:"key"`
		Gate string `json:"gate,omitempty"`
	}
	// ShellEnded is a command that has ended.
	ShellEnded struct {
		Key  string `json:"key"`
		Code int    `json:"code"`
		Lost bool   `json:"lost,omitempty"`
		Tail string `json:"tail,omitempty"`
	}
	// ShellDropped is a gate whose answer is no longer wanted.
	ShellDropped struct {
		Key string `json:"key"`
	}
)

// FactType is effect:started.
func (ActStarted) FactType() string { return "effect:started" }

func (f ActStarted) apply(o *Owner, s *Step) {
	if i := o.effect(f.Key); i >= 0 {
		o.Effects[i].Started = true
	}
}

// FactType is effect:done.
func (ActDone) FactType() string { return "effect:done" }

func (f ActDone) apply(o *Owner, s *Step) { o.closeEffect(f.Key) }

// FactType is effect:failed.
func (ActFailed) FactType() string { return "effect:failed" }

func (f ActFailed) apply(o *Owner, s *Step) {
	if f.Kept {
		o.keepWords(f.Key)
	}
	o.closeEffect(f.Key)
}

// FactType is effect:lost.
func (ActLost) FactType() string { return "effect:lost" }

func (f ActLost) apply(o *Owner, s *Step) { o.closeEffect(f.Key) }

// FactType is effect:dropped.
func (ActDropped) FactType() string { return "effect:dropped" }

func (f ActDropped) apply(o *Owner, s *Step) {
	if f.Kept {
		o.keepWords(f.Key)
	}
	o.closeEffect(f.Key)
}

// keepWords keeps those of a message that did not arrive.
func (o *Owner) keepWords(key string) {
	if i := o.effect(key); i >= 0 && o.Agent != nil {
		o.Agent.Unsaid = append(o.Agent.Unsaid, o.Effects[i].Text)
	}
}

// Effect is the open effect with a key. Who carries effects out looks again when the
// start is on record: an effect that is no longer here must not act.
func (o *Owner) Effect(key string) (OpenEffect, bool) {
	if i := o.effect(key); i >= 0 {
		return o.Effects[i], true
	}
	return OpenEffect{}, false
}

func (o *Owner) effect(key string) int {
	return slices.IndexFunc(o.Effects, func(e OpenEffect) bool { return e.Key == key })
}

func (o *Owner) closeEffect(key string) {
	o.Effects = slices.DeleteFunc(o.Effects, func(e OpenEffect) bool { return e.Key == key })
	if len(o.Effects) == 0 {
		o.Effects = nil
	}
}

// FactType is shell:started.
func (ShellStarted) FactType() string { return "shell:started" }

func (f ShellStarted) apply(o *Owner, s *Step) { o.Shell = &Shell{Key: f.Key, Gate: f.Gate} }

// FactType is shell:exited.
func (ShellEnded) FactType() string { return "shell:exited" }

func (ShellEnded) apply(o *Owner, s *Step) { o.Shell = nil }

// FactType is shell:dropped.
func (ShellDropped) FactType() string { return "shell:dropped" }

func (ShellDropped) apply(o *Owner, s *Step) { o.Shell = nil }
