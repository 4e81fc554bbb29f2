package runbook

import (
	"github.com/stopgate/stopgate/internal/project/document"
	"github.com/stopgate/stopgate/internal/sys/lazyregexp"
)

// Job says that a command, or what a worker runs for an item, is a job of the fleet: it is done on whichever machine has room.
// The zero Job is none.
type Job struct {
	On     bool
	Needs  []string // labels that a machine must have
	OnLost OnLost
	Cap    string // that it counts against; empty for the default one
}

// OnLost is what happens when the machine that does a job is not heard of any more.
type OnLost string

// What happens.
const (
	LostAsk   OnLost = "ask"   // a person decides
	LostAgain OnLost = "again" // it is done again elsewhere
)

// fleetName is what labels and caps look like: they are parts of subjects of the fleet.
const fleetName = "^[a-z0-9][a-z0-9-]{0,31}$"

var aFleetName = lazyregexp.New(fleetName)

// fleetNamed reads the name of a label or a cap.
var fleetNamed = document.New(func(v value, to *string) bool {
	if !is(v, document.Text, "") {
		return false
	}
	if !aFleetName.Get().MatchString(v.Node.Text()) {
		v.Fault(quote(v.Node.Text())+" has other characters than a-z, 0-9 and -, or more than 32", "")
		return false
	}
	*to = v.Node.Text()
	return true
}, func() schema { return document.Matching(fleetName) })

// labels reads the names of labels.
var labels = document.ListOf(fleetNamed, `write a list of labels: ["gpu", "linux"]`).With("minItems", 1)

func jobFields(j *Job) []field {
	return []field{
		document.Key("needs", &j.Needs, labels, "Labels that a machine must have (fleet.labels in its configuration)."),
		document.Key("on_lost", &j.OnLost, oneOf("value", LostAsk, LostAgain), "If its machine is lost: ask a person, or do it again elsewhere. again is for work that may run twice.").Default(LostAsk),
		document.Key("cap", &j.Cap, fleetNamed, "The cap of the fleet that it counts against. Default: default."),
	}
}

// job reads whether something is a job: true, or a table.
var job = document.New(func(v value, j *Job) bool {
	const forms = `write true, or { needs = ["gpu"], on_lost = "ask", cap = "nightly" }`
	*j = Job{On: true, OnLost: LostAsk}
	switch v.Node.Kind() {
	case document.Boolean:
		return document.Flag.Read(v, &j.On)
	case document.Mapping:
		return v.Mapping(jobFields(j)...)
	}
	return is(v, document.Mapping, forms)
}, func() schema {
	return document.AnyOf(document.Flag.Schema().Says("true for a job that any machine may do."), document.Ref("job")())
})
