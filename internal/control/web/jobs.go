package web

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// mostCaps is how many caps stand on the page.
const mostCaps = 50

// jobsPage are the jobs of the fleet, the newest first, and what they count against.
type jobsPage struct {
	Fleet    string // "" where this machine is in none
	Tabs     []tab
	Items    []jobView
	More     string
	Newest   string // the address of the first page, on the others
	Filtered bool
	Old      string // how old what is shown is, while the fleet does not answer
	Trouble  string // why there is nothing to show
	Caps     []capView
	MoreCaps int
}

// jobFilters are what people ask for: first what has not ended.
var jobFilters = []struct {
	value, name string
	statuses    []string
}{
	{"", "Open", []string{"pending", "claimed", "running", "lost"}},
	{"pending", "Waiting", []string{"pending"}},
	{"running", "Running", []string{"claimed", "running"}},
	{"lost", "Lost", []string{"lost"}},
	{"failed", "Failed", []string{"failed"}},
	{"done", "Done", []string{"done"}},
	{"cancelled", "Cancelled", []string{"cancelled"}},
}

func readJobs(r *Request) (any, error) {
	page := jobsPage{Fleet: r.Fleet(r.Context()).Name}
	if page.Fleet == "" {
		return page, nil
	}
	q, err := r.List("after")
	if err != nil {
		return nil, err
	}
	status := r.Value("status")
	for _, f := range jobFilters {
		here := f.value == status
		page.Tabs = append(page.Tabs, tab{Name: f.name, Href: r.first("status", f.value), Here: here})
		if here {
			q.Status = f.statuses
		}
	}
	page.Filtered = status != ""

	found, err := r.Jobs(r.Context(), q)
	if daemonapi.Code(err) == "unavailable" {
		page.Trouble = reason(err)
		return page, nil
	}
	if err != nil {
		return nil, err
	}
	for _, j := range found.Items {
		page.Items = append(page.Items, jobView{j})
		page.Old = asOf(&j)
	}
	page.More = r.More("after", found.Next)
	if r.Value("after") != "" {
		page.Newest = r.first("status", status)
	}
	return page, page.addCaps(r)
}

// addCaps adds the caps. While the fleet does not answer, what is used of them is not known.
func (p *jobsPage) addCaps(r *Request) error {
	caps, err := r.Caps(r.Context())
	if daemonapi.Code(err) == "unavailable" {
		return nil
	}
	for _, c := range caps[:min(len(caps), mostCaps)] {
		p.Caps = append(p.Caps, capView{c})
	}
	p.MoreCaps = len(caps) - len(p.Caps)
	return err
}

// jobPage is one job.
type jobPage struct {
	Fleet string
	jobView
}

func readJob(r *Request) (any, error) {
	page := jobPage{Fleet: r.Fleet(r.Context()).Name}
	if page.Fleet == "" {
		return page, nil
	}
	id, err := r.jobID()
	if err != nil {
		return nil, err
	}
	page.Job, err = r.Job(r.Context(), id)
	return page, err
}

// jobID is the part {id} of the path, if it can be that of a job.
func (r *Request) jobID() (string, error) {
	id := r.PathValue("id")
	if !daemonapi.IsOwnerID(id) {
		return "", missing("There is no such job.")
	}
	return id, nil
}

// cancelJob cancels a job, wherever it runs.
func cancelJob(r *Request) (next string, err error) {
	id, err := r.jobID()
	if err != nil {
		return "", err
	}
	_, err = r.CancelJob(r.Context(), id)
	return "/jobs/" + id, err
}

// jobView is a job as it is drawn.
type jobView struct{ daemonapi.Job }

// Line is its command with what it is given.
func (j jobView) Line() string { return strings.Join(append([]string{j.Command}, j.Args...), " ") }

// Machine is the one that has it, or had it last.
func (j jobView) Machine() string {
	if j.Status == "pending" {
		return ""
	}
	return j.Host
}

// Why is what keeps it, or how it came to its end.
func (j jobView) Why() string { return cmp.Or(j.Reason, strings.Join(j.Waiting(), "; ")) }

// Over reports whether it has ended.
func (j jobView) Over() bool {
	return j.Status == "done" || j.Status == "failed" || j.Status == "cancelled"
}

// When is since when it waits or runs, or when it ended.
func (j jobView) When() time.Time {
	if j.Over() {
		return j.Since
	}
	return j.Added
}

// CanCancel reports whether there is something to cancel.
func (j jobView) CanCancel() bool { return !j.Over() && !j.Cancelling }

// Pipeline is the address of what its machine runs for it.
func (j jobView) Pipeline() string {
	if j.Owner == "" || j.Status == "pending" || j.Status == "claimed" {
		return ""
	}
	return "/pipelines/" + url.PathEscape(j.Owner)
}

// Needed are the labels that its machine must have.
func (j jobView) Needed() string { return strings.Join(plain.Few(j.Needs, 12), ", ") }

// Waiting are some of the reasons why it waits.
func (j jobView) Waiting() []string { return plain.Few(j.Waits, 12) }

// Refusals are the machines that could not start it, with why.
func (j jobView) Refusals() []pair { return pairs(j.Refused) }

// Old says how old what is shown is, while the fleet does not answer.
func (j jobView) Old() string { return asOf(&j.Job) }

func asOf(j *daemonapi.Job) string {
	if j.Unheard == 0 {
		return ""
	}
	return "The fleet does not answer: this is as of " + daemonapi.Span(seconds(j.Unheard)) + " ago, and nothing can be changed until it does."
}

// capView is a cap as it is drawn.
type capView struct{ daemonapi.Cap }

// Running is how many jobs count now, of how many.
func (c capView) Running() string {
	if c.Jobs == 0 {
		return plain.Count(len(c.Held), "job") + ", no limit"
	}
	return fmt.Sprintf("%d of %s", len(c.Held), plain.Count(c.Jobs, "job"))
}

// Full reports whether no more jobs may begin.
func (c capView) Full() bool {
	return c.Jobs > 0 && len(c.Held) >= c.Jobs || c.USD > 0 && c.Spent+c.Reserved >= c.USD
}

// Money is what was spent and reserved, of how much.
func (c capView) Money() string {
	text := fmt.Sprintf("$%.2f spent", c.Spent)
	if c.Reserved > 0 {
		text += fmt.Sprintf(", $%.2f reserved", c.Reserved)
	}
	if c.USD == 0 {
		return text + ", no limit"
	}
	return text + fmt.Sprintf(" of $%.2f", c.USD)
}
