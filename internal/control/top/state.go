package top

import (
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
)

// State is everything that the screen shows.
type State struct {
	Now           time.Time
	Width, Height int
	Agent         string // the variable that says that this is an agent's shell; "" where it is a person's
	Link          Link
	World         World

	view     view
	cursors  [len(views)]cursor
	filter   string
	typing   bool // the filter
	finished bool // those that are at their end are shown

	mode   mode
	under  mode // to which the help goes back
	detail detail
	peek   detail // of the selected row, in a window that has room for it beside the list
	log    log
	form   form
	scroll int // of the detail and the help
	notice notice

	projects projects
	table    table
}

// projects are those whose enforcement was asked for last.
type projects struct {
	asked  []string
	asking bool
	at     time.Time
}

// Link is the connection to the daemon.
type Link struct {
	Up   bool
	Seen bool      // it was up before
	Lost time.Time // when it was lost
	Err  error     // why it is down
}

// World is what is known of all agents. It is bounded: what the daemon has more of is counted in
// Status.
type World struct {
	Polled
	Status   daemonapi.Status
	Owners   map[string]daemonapi.Owner // those that have not ended, and the newest others
	Projects []Project
	// Skew is the daemon's version where that is not ours.
	Skew string
	// Spent is what each owner of today has cost. More means that there are others.
	Spent map[string]float64
	More  bool
}

// Project is a project, and whether stops are judged in it.
type Project struct {
	Root     string
	Enforced bool
	Why      string // it is not, or what a person should know
	Hint     string // the command that helps
}

// mode is what fills the screen.
type mode int

const (
	listMode mode = iota
	detailMode
	logMode
	formMode
	helpMode
)

// view is a list.
type view int

const (
	nowView view = iota
	pipelineView
	agentView
	sessionView
	inboxView
	stopView
	projectView
)

// views are the names of all lists, in the order of their keys.
var views = [...]string{"Now", "Pipelines", "Agents", "Sessions", "Inbox", "Stops", "Projects"}

// cursor is the row that is selected. Where it is gone, it is the one that took its place.
type cursor struct {
	ref Ref
	at  int
}

// notice is the line at the bottom.
type notice struct {
	text string
	bad  bool
}

// Ref names what a row is about.
type Ref struct {
	Kind Kind
	ID   string
}

// Kind is what a row is.
type Kind string

// The kinds of rows.
const (
	OwnerRow    Kind = "owner"
	AgentRow    Kind = "agent"
	SessionRow  Kind = "session"
	SeenRow     Kind = "seen"
	DecisionRow Kind = "decision"
	WorkRow     Kind = "work"
	JobRow      Kind = "job"
	StopRow     Kind = "stop"
	ProjectRow  Kind = "project"
)

// detail is what is shown of one row.
type detail struct {
	Detail
	ref Ref
	err error
	got bool // there was an answer
}

// Detail is what the daemon answers about one row. What does not belong to it is nil.
type Detail struct {
	Owner    *daemonapi.Owner
	Agent    *daemonapi.Agent
	Decision *daemonapi.Decision
	Session  *daemonapi.Session
	Queue    *daemonapi.SessionQueue
	Messages []daemonapi.Message // the end of the agent's conversation
	Log      []string            // the end of the owner's log
	Stop     *daemonapi.GateRun  // the last one
	GateLog  []string            // the end of the log of the gate that failed then
}

// log is the end of the log of an owner.
type log struct {
	owner string
	title string
	under mode   // to which it goes back
	host  string // the other machine that it is on
	lines []string
	up    int  // how far the person has scrolled up
	ended bool // nothing more comes
	err   error
}

// maxLog bounds the lines of a log that are kept.
const maxLog = 2000
