package engine

import (
	"slices"
	"time"
)

// What becomes of effects, and of the commands that they start.
type (
	// EffectStarted comes before an effect acts: it may take place from now on.
	EffectStarted struct {
		Key string `json:"key"`
	}
	// EffectDone comes after it.
	EffectDone struct {
		Key string `json:"key"`
	}
	// EffectFailed is an effect that did nothing, and will not: a program is missing.
	EffectFailed struct {
		Key  string `json:"key"`
		Why  string `json:"why"`
		Kept bool   `json:"kept,omitempty"` // of the fact: the message is kept until it can be said
	}
	// EffectLost is an effect that may have taken place or not, and must not be repeated.
	EffectLost struct {
		Key string `json:"key"`
		Why string `json:"why,omitempty"`
	}
	// EffectDropped is an effect that was not started and is no longer wanted.
	EffectDropped struct {
		Key  string `json:"key"`
		Kept bool   `json:"kept,omitempty"` // as above
	}
	// ShellStarted is a command that is to run: a step's, or the gate of a trigger.
	ShellStarted struct {
		Key  string `json:"key"`
		Gate string `json:"gate,omitempty"`

		Timeout time.Duration `json:"timeout,omitempty"`
	}
	// ShellExited is a command that has ended. Lost means that it is not known how.
	ShellExited struct {
		Key  string `json:"key"`
		Code int    `json:"code"`
		Lost bool   `json:"lost,omitempty"`
		Tail string `json:"tail,omitempty"` // the end of what it printed

		Output map[string]string `json:"output,omitempty"` // what it wrote for other steps
		Fault  string            `json:"fault,omitempty"`  // why that cannot be read
	}
	// ShellDropped is a gate whose answer is no longer wanted.
	ShellDropped struct {
		Key string `json:"key"`
	}
)

func (EffectStarted) EventType() string { return "effect:started" }
func (EffectDone) EventType() string    { return "effect:done" }
func (EffectFailed) EventType() string  { return "effect:failed" }
func (EffectLost) EventType() string    { return "effect:lost" }
func (EffectDropped) EventType() string { return "effect:dropped" }
func (ShellStarted) EventType() string  { return "shell:started" }
func (ShellExited) EventType() string   { return "shell:exited" }
func (ShellDropped) EventType() string  { return "shell:dropped" }

func (f EffectStarted) apply(o *Owner, s *Step) {
	if i := o.effect(f.Key); i >= 0 {
		o.Effects[i].Started = true
	}
}

func (f EffectDone) apply(o *Owner, s *Step)    { o.closeEffect(f.Key, false) }
func (f EffectFailed) apply(o *Owner, s *Step)  { o.closeEffect(f.Key, f.Kept) }
func (f EffectLost) apply(o *Owner, s *Step)    { o.closeEffect(f.Key, false) }
func (f EffectDropped) apply(o *Owner, s *Step) { o.closeEffect(f.Key, f.Kept) }

func (f ShellStarted) apply(o *Owner, s *Step) {
	o.Shell = &Shell{Key: f.Key, Gate: f.Gate, Timeout: f.Timeout, Since: o.Ran}
}

func (f ShellExited) apply(o *Owner, s *Step) {
	if o.Shell != nil && o.Shell.Gate == "" && !f.Lost {
		o.Outputs = with(o.Outputs, o.Step, Output{Values: f.Output, Tail: lastLines(f.Tail)})
	}
	o.Shell = nil
}

func (ShellDropped) apply(o *Owner, s *Step) { o.Shell = nil }

// closeEffect takes an effect off the open ones. The words of a message that did not arrive can
// be kept for the agent.
func (o *Owner) closeEffect(key string, keep bool) {
	i := o.effect(key)
	if i < 0 {
		return
	}
	if keep && o.Agent != nil {
		o.Agent.Unsaid = append(o.Agent.Unsaid, o.Effects[i].Text)
	}
	if o.Effects = slices.Delete(o.Effects, i, i+1); len(o.Effects) == 0 {
		o.Effects = nil
	}
}

// Effect is the open effect with a key. A worker looks again when the start is on record: an
// effect that is no longer here must not act.
func (o *Owner) Effect(key string) (OpenEffect, bool) {
	if i := o.effect(key); i >= 0 {
		return o.Effects[i], true
	}
	return OpenEffect{}, false
}

func (o *Owner) effect(key string) int {
	return slices.IndexFunc(o.Effects, func(e OpenEffect) bool { return e.Key == key })
}
