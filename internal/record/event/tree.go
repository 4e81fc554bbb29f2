package event

// Tree is a working tree that a stop was judged in: what was looked at, and what each gate
// said. It is what pages about a stop are made of.
type Tree struct {
	Root     string `json:"root"`
	Tree     string `json:"tree,omitempty"`     // id of its content; empty where that is not known
	Approval string `json:"approval,omitempty"` // id of the configuration that ran; empty without trust
	Status   string `json:"status"`
	Since    string `json:"since,omitempty"` // of a tree that is unchanged: since when, one of those below
	Why      string `json:"why,omitempty"`   // why no gate was asked
	Gates    []Gate `json:"gates,omitempty"` // every one of the configuration
	More     int64  `json:"more,omitempty"`  // skipped ones that are not listed, because there are too many
}

// Since when a tree is unchanged. Records of an older stopgate do not say it.
const (
	SincePass   = "pass"   // the gates passed on it
	SinceStart  = "start"  // the session found it at its first prompt
	SincePrompt = "prompt" // a person changed it between two prompts
	SinceStop   = "stop"   // a stop of the session was allowed on it, and no gate covers what changed
	SinceReads  = "reads"  // the session found it, and has called no tool that could change it
	SincePlan   = "plan"   // that is not known: the agent only plans
)

// Gate is what became of a gate.
type Gate struct {
	Job        string `json:"job"`
	Outcome    string `json:"outcome"`            // one of the above
	Why        string `json:"why,omitempty"`      // holds no output of commands
	StartMS    int64  `json:"start_ms,omitempty"` // when it began to run, in Unix time
	DurationMS int64  `json:"duration_ms,omitempty"`
	Log        string `json:"log,omitempty"` // a copy that stays for a month
	Cost       Cost   `json:"cost,omitzero"` // of a review, where its program tells
}

func (t *Tree) append(to []byte) []byte {
	o := object{text: append(to, '{')}
	o.always("root", t.Root)
	o.string("tree", t.Tree)
	o.string("approval", t.Approval)
	o.always("status", t.Status)
	o.string("since", t.Since)
	o.string("why", t.Why)
	o.list("gates", len(t.Gates), func(i int) { o.text = t.Gates[i].append(o.text) })
	o.some("more", t.More)
	return append(o.text, '}')
}

func (g *Gate) append(to []byte) []byte {
	o := object{text: append(to, '{')}
	o.always("job", g.Job)
	o.always("outcome", g.Outcome)
	o.string("why", g.Why)
	o.some("start_ms", g.StartMS)
	o.some("duration_ms", g.DurationMS)
	o.string("log", g.Log)
	if g.Cost != (Cost{}) {
		o.object("cost", g.Cost.write)
	}
	return append(o.text, '}')
}
