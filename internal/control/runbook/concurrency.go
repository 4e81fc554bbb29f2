package runbook

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/project/document"
)

// Concurrency is how many pipelines of a group run at once in a project. Without a group there is
// no limit.
type Concurrency struct {
	Group    string   `json:"group,omitempty"` // a template
	Limit    int      `json:"limit,omitempty"`
	WhenFull WhenFull `json:"when_full,omitempty"`
}

// WhenFull is what becomes of a pipeline whose group is full.
type WhenFull string

// What becomes of it.
const (
	FullWait   WhenFull = "wait"   // it waits until one of the group has ended
	FullCancel WhenFull = "cancel" // the oldest of the group are cancelled for it
)

// whenFulls are all there are.
func whenFulls() []WhenFull { return []WhenFull{FullWait, FullCancel} }

func (d *decoder) concurrencyFields(c *Concurrency) []field {
	return []field{
		document.Key("group", &c.Group, d.groupName(), "Pipelines of the project with the same group count together.").Needed(),
		document.Key("limit", &c.Limit, count, "How many of the group run at once.").Default(1),
		document.Key("when_full", &c.WhenFull, oneOf("value", whenFulls()...), "Wait, or cancel the oldest of the group.").Default(FullWait),
	}
}

// concurrency reads a group: its name, or a table.
func (d *decoder) concurrency() typeOf[Concurrency] {
	const forms = `write "deploy", or { group = "deploy", limit = 2, when_full = "wait" }`
	return document.New(func(v value, c *Concurrency) bool {
		*c = Concurrency{Limit: 1, WhenFull: FullWait}
		switch v.Node.Kind() {
		case document.Text:
			return d.groupName().Read(v, &c.Group)
		case document.Mapping:
			return v.Mapping(d.concurrencyFields(c)...)
		}
		return is(v, document.Mapping, forms)
	}, func() schema { return document.AnyOf(text.Schema().Says("The group."), document.Ref("concurrency")()) })
}

// groupName reads the template of a group. What it names must be known before the pipeline starts.
func (d *decoder) groupName() typeOf[string] {
	return document.Then(text, func(v value, name string) (string, bool) {
		for _, template := range Names(name) {
			if !hasSource(template) && !slices.Contains(groupTemplates, template) {
				wrong(v, "${"+template+"} cannot be used in "+v.Name, "templates: ${var.NAME}, ${"+strings.Join(groupTemplates, "}, ${")+"}")
				return "", false
			}
		}
		return name, d.use(v, name, "")
	})
}

// groupTemplates are the names besides variables that are known before a pipeline starts.
var groupTemplates = []string{"name", "invoke.dir", "project"}
