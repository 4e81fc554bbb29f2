package web

import (
	"cmp"
	"errors"
	"html/template"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/control/runbook/graph"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

const (
	// mostVisits is how many steps stand on a page: the newest.
	mostVisits = 60
	// mostNodes is how many steps a graph may have to be drawn.
	mostNodes = 200
	// longestWords is how much is shown of what an agent said, in bytes.
	longestWords = 4000
	// longestName is how much of a step's name is drawn.
	longestName = 80
	// mostValues is how many variables, and outputs of a step, are shown.
	mostValues = 40
)

// pipelinePage is one pipeline, or an agent that runs alone.
type pipelinePage struct {
	daemonapi.Owner
	Path    []crumb // the pipelines that it is part of, the outermost first
	Picture template.HTML
	Visits  []visitRow
	Left    int      // older visits that are not shown
	Ahead   []string // steps that were not reached
	Past    []daemonapi.Decision
	Given   []pair // its variables
	Tree    *tree
	Log     logPart
	Took    time.Duration
	Active  time.Duration // without waiting for a person or for room
}

// crumb is a pipeline that another is part of.
type crumb struct{ ID, Name string }

// pair is a name with its value.
type pair struct{ Name, Value string }

// visitRow is one time that a step was entered.
type visitRow struct {
	daemonapi.Visit
	Took    time.Duration
	Outputs []pair
	Signal  string
	Href    string // its log
	Here    bool   // whose log is shown
}

func readPipeline(r *Request) (any, error) {
	id, err := r.ownerID()
	if err != nil {
		return nil, err
	}
	o, err := r.Owner(r.Context(), id)
	if err != nil {
		return nil, err
	}

	if o.Agent != nil && len(o.Agent.Session) > longestName {
		o.Agent.Session = "" // it is none of Claude Code's
	}
	if !daemonapi.IsOwnerID(o.Job) {
		o.Job = "" // there is no page of it
	}

	page := &pipelinePage{Owner: o, Took: seconds(o.Duration), Active: seconds(o.Worked), Given: pairs(o.Vars)}
	page.addGraph(r)
	page.addSteps(r)

	past, err := r.Decisions(r.Context(), &api.Query{Owner: o.ID, Past: true, Limit: 10})
	if err != nil && o.Host == "" {
		return nil, err
	}
	page.Past = past.Items

	page.Path = r.ancestors(&o)
	page.Tree = r.tree(&o, page.Path)
	page.Log, err = r.log(o.ID, r.Value("step"))
	if err != nil && o.Host != "" { // the rest of the page is of use without
		page.Log, err = logPart{Trouble: "Its log could not be read: " + reason(err)}, nil
	}
	return page, err
}

// reason is what people are told of why another machine could not be asked.
func reason(err error) string {
	if e, known := errors.AsType[*api.Error](err); known {
		return e.Error()
	}
	return "the machine did not answer in time"
}

// ownerID is the part {id} of the path, if it can be that of a pipeline or a run.
func (r *Request) ownerID() (string, error) {
	id := r.PathValue("id")
	if !daemonapi.IsOwnerID(id) {
		return "", missing("There is no such pipeline.")
	}
	return id, nil
}

// CanCancel reports whether there is something to cancel.
func (p *pipelinePage) CanCancel() bool { return p.Ended == nil && p.Held == "" }

// CanResume reports whether a person can let it go on.
func (p *pipelinePage) CanResume() bool {
	return p.Held == "" && (p.Status == "failed" || p.Status == "waiting" && p.Decision == nil)
}

// Why is what people should know about where it is.
func (p *pipelinePage) Why() string {
	if p.Decision != nil {
		return "" // it says so itself
	}
	return cmp.Or(p.Held, p.Reason, p.Error)
}

// addGraph draws the steps. A record that is damaged has none.
func (p *pipelinePage) addGraph(r *Request) {
	g, err := r.Graph(r.Context(), p.ID)
	if err != nil || len(g.Nodes) == 0 {
		return
	}

	name := func(text string) string { return plain.Clip(text, longestName) }
	drawn := graph.Graph{Name: name(g.Name)}
	for _, n := range g.Nodes {
		drawn.Nodes = append(drawn.Nodes, graph.Node{Name: name(n.Name), What: name(n.What), Of: name(n.Of), State: name(n.State)})
		if n.State == "not_reached" {
			p.Ahead = append(p.Ahead, n.Name)
		}
	}
	p.Ahead = p.Ahead[:min(len(p.Ahead), mostVisits)]

	for _, e := range g.Edges {
		drawn.Edges = append(drawn.Edges, graph.Edge{From: name(e.From), To: name(e.To), On: name(e.On)})
	}

	if len(drawn.Nodes) > 1 && len(drawn.Nodes) <= mostNodes {
		p.Picture = template.HTML(graph.Inline(drawn))
	}
}

func (p *pipelinePage) addSteps(r *Request) {
	p.Left = max(0, len(p.Steps)-mostVisits)
	newest := map[string]int{}
	for _, v := range p.Steps[p.Left:] {
		row := visitRow{Visit: v, Here: v.Step == r.Value("step"), Href: "#log"}
		if len(v.Step) <= longestValue {
			row.Href = r.logAddress(v.Step, -1)
		}
		if v.Finished != nil {
			row.Took = v.Finished.Sub(v.Started)
		}
		newest[v.Step] = len(p.Visits)
		p.Visits = append(p.Visits, row)
	}
	for step, out := range p.Outputs {
		if i, shown := newest[step]; shown {
			p.Visits[i].Outputs, p.Visits[i].Signal = pairs(out.Values), plain.Cut(out.Signal, longestWords)
		}
	}
}

func pairs(values map[string]string) (all []pair) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if len(all) == mostValues {
			break
		}
		all = append(all, pair{name, values[name]})
	}
	return all
}

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

// ancestors are the pipelines that an owner is part of, the outermost first.
func (r *Request) ancestors(o *daemonapi.Owner) (path []crumb) {
	const most = 16 // no runbook goes deeper
	for parent := o.Parent; parent != "" && len(path) < most; {
		above, err := r.Owner(r.Context(), parent)
		if err != nil {
			break // it was removed
		}
		path = append(path, crumb{above.ID, above.Name})
		parent = above.Parent
	}
	slices.Reverse(path)
	return path
}

// cancelPipeline cancels a pipeline, or forgets one whose record is damaged.
func cancelPipeline(r *Request) (next string, err error) {
	id, err := r.ownerID()
	if err != nil {
		return "", err
	}
	giveUp := r.Value("give_up") == "1"
	if _, err := r.Plane.Cancel(r.Context(), id, daemonapi.Cancel{ID: daemonapi.NewID(), GiveUp: giveUp}); err != nil {
		return "", err
	}
	if giveUp {
		return "/pipelines", nil
	}
	return "/pipelines/" + id, nil
}

// resumePipeline lets a pipeline go on.
func resumePipeline(r *Request) (next string, err error) {
	id, err := r.ownerID()
	if err != nil {
		return "", err
	}
	message := strings.TrimSpace(strings.ReplaceAll(r.Value("message"), "\r\n", "\n"))
	_, err = r.Resume(r.Context(), id, daemonapi.Resume{ID: daemonapi.NewID(), Message: message})
	return "/pipelines/" + id, err
}
