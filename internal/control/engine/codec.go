package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/stopgate/stopgate/internal/sys/rawjson"
)

// stepFormat is the version of a step's form in the store. It grows when an older
// program would read a step wrongly.
const stepFormat = 1

// storedStep is a step as the store has it, with facts that have their types.
type storedStep struct {
	Format int `json:"v"`
	Step
	Facts []json.RawMessage `json:"facts,omitempty"`
}

// EncodeStep is the step as it is stored: JSON, each fact a flat object that begins with
// its type.
func EncodeStep(s Step) ([]byte, error) {
	stored := storedStep{Format: stepFormat, Step: s}
	for _, f := range s.Facts {
		text, err := encodeFact(f)
		if err != nil {
			return nil, err
		}
		stored.Facts = append(stored.Facts, text)
	}
	return rawjson.Marshal(stored)
}

func encodeFact(f Fact) ([]byte, error) {
	text, err := rawjson.Marshal(f)
	if err != nil {
		return nil, fmt.Errorf("fact %s: %w", f.EventType(), err)
	}
	head := append([]byte(factHead), f.EventType()...)
	head = append(head, '"')
	if len(text) > len("{}") {
		head = append(head, ',')
	}
	return append(head, text[1:]...), nil
}

// factHead is how a fact begins.
const factHead = `{"type":"`

// DecodeStep reads what EncodeStep wrote. A step that a newer stopgate wrote is an error
// that says so.
func DecodeStep(text []byte) (Step, error) {
	var stored storedStep
	if err := json.Unmarshal(text, &stored); err != nil {
		return Step{}, fmt.Errorf("not a step: %w", err)
	}
	if err := checkFormat("step", stored.Format, stepFormat); err != nil {
		return Step{}, err
	}
	s := stored.Step
	for _, text := range stored.Facts {
		f, err := decodeFact(text)
		if err != nil {
			return Step{}, err
		}
		s.Facts = append(s.Facts, f)
	}
	return s, s.check()
}

// checkFormat finds out whether we can read what was written in a format.
func checkFormat(what string, format, known int) error {
	switch {
	case format > known:
		return fmt.Errorf("a %s of format %d was written by a newer stopgate; this one knows format %d", what, format, known)
	case format < known:
		return fmt.Errorf("not a %s: it has format %d", what, format)
	}
	return nil
}

// check finds what no step of ours has, and what Apply could not take.
func (s *Step) check() error {
	for _, e := range s.Effects {
		if e.Key == "" || (e.Kind == StartShell) != (e.Shell != nil) || (e.Kind == StartAgent) != (e.Agent != nil) ||
			(e.Kind == MakeWorkspace || e.Kind == RemoveWorkspace) != (e.Workspace != nil) {
			return fmt.Errorf("an effect of kind %q is incomplete", e.Kind)
		}
	}
	for _, f := range s.Facts {
		if c, is := f.(Created); is && c.Plan == nil {
			return fmt.Errorf("fact %s has no plan", f.EventType())
		}
	}
	return nil
}

// factType reads a fact's type: quickly where we wrote it.
func factType(text []byte) (string, error) {
	if rest, ours := bytes.CutPrefix(text, []byte(factHead)); ours {
		if name, _, ends := bytes.Cut(rest, []byte{'"'}); ends {
			return string(name), nil
		}
	}
	var head struct {
		Type string `json:"type"`
	}
	err := json.Unmarshal(text, &head)
	return head.Type, err
}

func decodeFact(text []byte) (Fact, error) {
	name, err := factType(text)
	if err != nil {
		return nil, fmt.Errorf("not a fact: %w", err)
	}
	kind, known := factTypes[name]
	if !known {
		return nil, fmt.Errorf("a fact of type %q was written by a newer stopgate", clip(name, 80))
	}
	fact := reflect.New(kind)
	if err := json.Unmarshal(text, fact.Interface()); err != nil {
		return nil, fmt.Errorf("fact %s: %w", name, err)
	}
	return fact.Elem().Interface().(Fact), nil
}

// factTypes are the types of all facts, by their names in the store.
var factTypes = byName(
	Created{Kind: Pipeline}, Created{Kind: AgentRun}, OwnerDeleted{},
	StepStarted{}, StepCompleted{}, StepFailed{}, StepCancelled{}, StepWaiting{}, StepRetrying{}, StepSkipped{}, FailuresOverruled{},
	PipelineAdvanced{}, PipelineCancelling{}, PipelineEnding{}, PipelineResumed{}, AgentRunStatusChanged{},
	PipelineQueued{}, PipelineAdmitted{},
	AgentSignal{}, AgentIdle{}, AgentStop{}, AgentError{}, AgentRested{}, AgentWorking{}, AgentSession{},
	AgentPrompt{}, AgentAsked{}, AgentPromptOver{}, AgentDeferred{}, AgentResaid{},
	AgentBlocked{}, AgentReady{}, AgentBegan{}, AgentSpent{}, AgentExited{}, AgentRestarted{},
	DecisionCreated{}, DecisionResolved{}, DecisionClosed{},
	BudgetExtended{}, AttemptCounted{}, PersonIntervened{},
	TimerSet{}, TimerCancelled{}, TimerFired{},
	EffectStarted{}, EffectDone{}, EffectFailed{}, EffectLost{}, EffectDropped{},
	ShellStarted{}, ShellExited{}, ShellDropped{},
	WorkspaceWanted{}, WorkspaceMade{}, WorkspaceFailed{}, WorkspaceLeft{}, WorkspaceRemoved{},
	GroupPlanned{}, GroupLeaving{}, ChildStarted{}, ChildPassedOver{}, ChildReported{}, ParentTold{},
)

func byName(facts ...Fact) map[string]reflect.Type {
	types := map[string]reflect.Type{}
	for _, f := range facts {
		types[f.EventType()] = reflect.TypeOf(f)
	}
	return types
}
