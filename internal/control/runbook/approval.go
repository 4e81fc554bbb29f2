package runbook

import (
	"slices"
	"time"

	"github.com/stopgate/stopgate/internal/project/document"
)

// Approval is a step that a person decides.
type Approval struct {
	Title   string           `json:"title"`
	Text    string           `json:"text,omitempty"`
	Who     string           `json:"who,omitempty"` // whom it is for
	Options []ApprovalOption `json:"options"`
	Expire  ApprovalExpire   `json:"expire,omitzero"`
}

// Answerable reports whether there is an option, and one for when the approval expires.
func (a *Approval) Answerable() bool {
	answer := a.Expire.Answer
	known := func(o ApprovalOption) bool { return o.Name == answer }
	return len(a.Options) > 0 && (answer == "" || answer == "cancel" || slices.ContainsFunc(a.Options, known))
}

// ApprovalOption is an answer, and where it leads: to a step, to a failure, or to on_done.
type ApprovalOption struct {
	Name string `json:"name"`
	Text string `json:"text,omitempty"`
	Step string `json:"step,omitempty"`
	Fail bool   `json:"fail,omitempty"`

	Overrule bool `json:"overrule,omitempty"` // the steps that failed before count as completed
}

// Says is what the option means, in words.
func (o ApprovalOption) Says() string {
	switch {
	case o.Text != "":
		return o.Text
	case o.Fail:
		return "Fail the step"
	case o.Step != "":
		return "Continue with step " + o.Step
	}
	return "Continue"
}

// ApprovalExpire is the answer when no person gave one in time.
type ApprovalExpire struct {
	After  time.Duration `json:"after,omitempty"`
	Answer string        `json:"answer,omitempty"` // an option's name
}

// The options of an approval that names none.
const (
	Approve = "approve"
	Reject  = "reject"
)

// approval reads a step that a person decides.
func (d *decoder) approval(draft *stepDraft) typeOf[*Approval] {
	return document.New(func(v value, to **Approval) bool {
		a := &Approval{}
		ok := v.Mapping(d.approvalFields(a, draft)...)
		if len(a.Options) == 0 {
			a.Options = []ApprovalOption{{Name: Approve}, {Name: Reject, Fail: true}}
		}
		if ok {
			*to = a
			d.checkApproval(v, a)
		}
		return ok
	}, document.Ref("approval"))
}

func (d *decoder) approvalFields(a *Approval, draft *stepDraft) []field {
	return []field{
		document.Key("title", &a.Title, d.words(), "The question, in one line.").Needed(),
		document.Key("text", &a.Text, d.words(), "What the person should know."),
		document.Key("who", &a.Who, d.words(), "Whom it is for; shown with the question."),
		document.Key("options", &a.Options, d.approvalOptions(draft), "The answers. Default: approve, and reject, which fails the step."),
		document.Key("expire", &a.Expire, document.Object((*ApprovalExpire).fields), "The answer when no person gave one in time."),
	}
}

func (e *ApprovalExpire) fields() []field {
	return []field{
		document.Key("after", &e.After, duration, "How long the approval waits for a person.").Needed(),
		document.Key("answer", &e.Answer, text, "The name of the option that is taken then.").Needed(),
	}
}

func (d *decoder) approvalOptions(draft *stepDraft) typeOf[[]ApprovalOption] {
	option := document.Object(func(o *ApprovalOption) []field { return d.optionFields(o, draft) })
	return document.ListOf(option, `write a list: [{ name = "merge", step = "merge" }, …]`).With("minItems", 1)
}

func (d *decoder) optionFields(o *ApprovalOption, draft *stepDraft) []field {
	step := d.transition("step", &o.Step, &draft.moves, "The next step. Default: the step's on_done.")
	return []field{
		document.Key("name", &o.Name, document.Then(text, func(v value, name string) (string, bool) {
			return name, d.checkName(name, v.Node)
		}).As(nameSchema), "The answer.").Needed(),
		document.Key("text", &o.Text, text, "What it means."),
		step,
		document.Key("fail", &o.Fail, document.Flag, "Whether it fails the step.").Default(false),
		document.Key("overrule", &o.Overrule, document.Flag, "Whether the steps that failed before count as completed.").Default(false),
	}
}

// checkApproval looks at what the fields of an approval mean together.
func (d *decoder) checkApproval(v value, a *Approval) {
	var names []string
	for _, o := range a.Options {
		switch {
		case o.Name == "cancel":
			wrong(v, `an option cannot be called "cancel": that is always possible, and cancels the pipeline`, "")
		case slices.Contains(names, o.Name):
			wrong(v, "duplicate option "+quote(o.Name), "")
		case o.Fail && o.Step != "":
			wrong(v, "option "+quote(o.Name)+" has both fail and step: only one is possible", "use the step's on_fail")
		case o.Fail && o.Overrule:
			wrong(v, "option "+quote(o.Name)+" has both fail and overrule: only one is possible", "")
		}
		names = append(names, o.Name)
	}
	if !a.Answerable() {
		wrong(v, "expire: there is no option "+quote(a.Expire.Answer), document.OrValid("option", a.Expire.Answer, names))
	}
}
