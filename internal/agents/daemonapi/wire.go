// Package daemonapi is the daemon's API as others see it: what goes over the socket, and
// asking for it. It is linked into the program that answers hooks, so it speaks HTTP
// in a few lines of its own rather than with net/http.
package daemonapi

import (
	"strconv"
	"strings"
	"time"
)

// Version is GET /v1/version.
type Version struct {
	Version string    `json:"version"` // of stopgated
	Commit  string    `json:"commit,omitempty"`
	API     int       `json:"api"`
	PID     int       `json:"pid"`
	Started time.Time `json:"started"`
}

// Command is one of GET /v1/commands?project=ROOT.
type Command struct {
	Name        string `json:"name"`
	Usage       string `json:"usage"` // the arguments
	Description string `json:"description,omitempty"`
	Runs        string `json:"runs"`    // shell, pipeline NAME, agent NAME
	Runbook     string `json:"runbook"` // path

	PassEnv []string `json:"pass_env,omitempty"` // environment variables that it takes from the person who starts it
}

// Start is the body of POST /v1/start: run a runbook's command. The caller makes the ID,
// so that asking again starts nothing twice.
type Start struct {
	ID      string   `json:"id"` // 16 hex digits
	Project string   `json:"project"`
	Cwd     string   `json:"cwd"`
	Command string   `json:"command"`
	Args    []string `json:"args,omitempty"`
	// Host is the machine of the fleet on which to start it; empty for this one. There the project is the
	// one that its configuration maps the name to, and Project and Cwd are left out.
	Host        string `json:"host,omitempty"`
	ProjectName string `json:"project_name,omitempty"`

	Runbook string `json:"runbook,omitempty"` // where several define the command
	// Env holds the variables that the command's pass_env names, as the person has them. Others are
	// left out.
	Env map[string]string `json:"env,omitempty"`
}

// Owner is a pipeline or an agent that runs alone: one of GET /v1/pipelines and GET
// /v1/runs, there without its steps, outputs and variables.
type Owner struct {
	ID       string            `json:"id"`
	Kind     string            `json:"kind"` // pipeline, run
	Name     string            `json:"name"`
	Command  string            `json:"command"`
	Project  string            `json:"project"`
	Cwd      string            `json:"cwd"`
	Vars     map[string]string `json:"vars,omitempty"`
	Step     string            `json:"step"`           // or done, failed, cancelled
	Status   string            `json:"status"`         // queued, running, waiting, done, failed, cancelled, held
	Held     string            `json:"held,omitempty"` // why it is held: its record is damaged
	Error    string            `json:"error,omitempty"`
	Reason   string            `json:"reason,omitempty"` // why it waits, failed or was cancelled
	Created  time.Time         `json:"created"`
	Updated  time.Time         `json:"updated"`
	Ended    *time.Time        `json:"ended,omitempty"`
	Duration float64           `json:"duration,omitempty"` // seconds from its start to its end
	Worked   float64           `json:"worked"`             // seconds, without waiting for a person or for room
	USD      float64           `json:"usd,omitempty"`      // what its agents have cost
	Tokens   int64             `json:"tokens,omitempty"`
	Steps    []Visit           `json:"steps,omitempty"`
	Agent    *Agent            `json:"agent,omitempty"`
	Decision *Decision         `json:"decision,omitempty"`
	// By is what started it, if a person did not: schedule, worker NAME, or job ID.
	By string `json:"by,omitempty"`
	// Job is the job of the fleet that it is an attempt of.
	Job string `json:"job,omitempty"`
	// WaitsFor is the group that it waits for room in, while it is queued.
	WaitsFor *Room `json:"waits_for,omitempty"`
	// Workspaces are the worktrees and folders that were made for it.
	Workspaces []Workspace `json:"workspaces,omitempty"`
	// Outputs are what steps that have ended left behind for those after them, by step.
	Outputs map[string]Output `json:"outputs,omitempty"`
	// Parent is the id of the pipeline whose step runs it.
	Parent string `json:"parent,omitempty"`
	// Children are the pipelines that its newest step of that kind runs: branches, items, or another pipeline.
	Children []Child `json:"children,omitempty"`
	// Notice is what the one who starts it should know, in the answer to that.
	Notice string `json:"notice,omitempty"`
	Away
}

// Away is where something of another machine of the fleet is.
type Away struct {
	Host string `json:"host,omitempty"` // the machine's name in the fleet; empty for this one
	// Heard is how many seconds ago that machine reported last: what is shown of it may be as old.
	Heard float64 `json:"heard,omitempty"`
}

// Room is a concurrency group, with a limit of how many run at once.
type Room struct {
	Group  string   `json:"group"`
	Limit  int      `json:"limit"`
	Inside []string `json:"inside,omitempty"` // the ids of those that run, the oldest first
}

// String is the group and who is in it, in words.
func (r Room) String() string {
	var ids []string
	for _, id := range r.Inside {
		ids = append(ids, id[:min(len(id), 8)])
	}
	const most = 3
	if more := len(ids) - most; more > 1 {
		ids = append(ids[:most], "and "+strconv.Itoa(more)+" more")
	}
	return strings.TrimSuffix("waits for "+r.Group+": "+strings.Join(ids, ", "), ": ")
}

// Workspace is a worktree or a folder of a pipeline, an agent run or an agent.
type Workspace struct {
	Agent  string `json:"agent,omitempty"` // whose own it is
	Kind   string `json:"kind"`            // worktree, copy, empty
	Path   string `json:"path"`
	Branch string `json:"branch,omitempty"`
	Base   string `json:"base,omitempty"`
	State  string `json:"state"`          // making, ready, failed, removing, removed, kept
	Kept   string `json:"kept,omitempty"` // why it is still there
	Note   string `json:"note,omitempty"` // what a person should know about it
}

// KeptWorkspace is one of GET /v1/workspaces: a workspace that is there.
type KeptWorkspace struct {
	Name    string `json:"name"` // of its directory
	Path    string `json:"path"`
	Kind    string `json:"kind"` // worktree, copy, empty
	Branch  string `json:"branch,omitempty"`
	Project string `json:"project"`
	Owner   string `json:"owner"`            // the pipeline or run that it was made for
	Status  string `json:"status,omitempty"` // of that; empty where it was removed
	Kept    string `json:"kept,omitempty"`   // why it is still there; empty while it is in use
}

// RemoveWorkspace is the body of POST /v1/workspaces/remove.
type RemoveWorkspace struct {
	ID   string `json:"id"` // of the request
	Name string `json:"name"`
}

// Child is a pipeline that a step of another one runs.
type Child struct {
	Name   string `json:"name"` // the branch, or the step with the number of the item
	Step   string `json:"step"` // that runs it
	ID     string `json:"id,omitempty"`
	Item   string `json:"item,omitempty"`
	Status string `json:"status"` // pending, running, waiting, done, failed, cancelled, skipped
	Reason string `json:"reason,omitempty"`
	// Updated is when it changed last, if it was started.
	Updated *time.Time `json:"updated,omitempty"`
}

// Visit is one time that a step was entered.
type Visit struct {
	Step     string     `json:"step"`
	Attempt  int        `json:"attempt,omitempty"` // from the second on
	Agent    string     `json:"agent,omitempty"`
	Started  time.Time  `json:"started"`
	Finished *time.Time `json:"finished,omitempty"`
	Outcome  string     `json:"outcome"` // running, waiting, completed, failed, cancelled, skipped
	Error    string     `json:"error,omitempty"`
}

// Output is what a step left behind.
type Output struct {
	Values map[string]string `json:"values,omitempty"`
	Signal string            `json:"signal,omitempty"` // the words of its agent's signal, or of a person's answer
}

// Graph is GET /v1/pipelines/{id}/graph and GET /v1/runs/{id}/graph.
type Graph struct {
	Name  string `json:"name"`
	Nodes []Node `json:"nodes"` // in the order of the runbook; the first is where it begins
	Edges []Edge `json:"edges"` // by the nodes that they lead from
}

// Node is a step of a graph.
type Node struct {
	Name string `json:"name"`
	What string `json:"what"`         // it runs, in one line
	Of   string `json:"of,omitempty"` // the step that it is a branch of
	// State is not_reached, running, waiting, done, failed, cancelled or skipped: that of the newest
	// visit, or of the branch.
	State    string  `json:"state"`
	Pipeline string  `json:"pipeline,omitempty"` // of a branch: the id of the pipeline that it is
	Visits   []Visit `json:"visits,omitempty"`   // the oldest may be forgotten
	Current  bool    `json:"current,omitempty"`
}

// Edge leads from a step to another, or to an end: done, failed, cancelled.
type Edge struct {
	From string `json:"from"` // "any step" for every step without such an edge
	To   string `json:"to"`
	On   string `json:"on"` // done, fail, cancel or finally; branch or needs; of a step that a person decides, the answer
}

// Agent is one of GET /v1/agents.
type Agent struct {
	ID      string     `json:"id"`
	Name    string     `json:"name"`
	Owner   string     `json:"owner"`
	Project string     `json:"project"`
	Step    string     `json:"step"`
	Session string     `json:"session"`
	OnStop  string     `json:"on_stop"`
	Status  string     `json:"status"` // queued, running, parked, waiting, exited
	Signal  string     `json:"signal,omitempty"`
	Started time.Time  `json:"started"`
	Ended   *time.Time `json:"ended,omitempty"` // when its step ended
	// Until is when what an agent that is parked waits for is to be over.
	Until *time.Time `json:"until,omitempty"`
	// ClaudeCode means that it is Claude Code in a terminal, and no plain process.
	ClaudeCode bool `json:"client,omitempty"`
	// Ready means that Claude Code has called a hook.
	Ready bool `json:"ready,omitempty"`
	// Terminal is where it can be seen, as long as it runs.
	Terminal *Terminal `json:"terminal,omitempty"`
	// Transcript is the path of its conversation, where that is known.
	Transcript string  `json:"transcript,omitempty"`
	USD        float64 `json:"usd,omitempty"` // spent so far
	Tokens     int64   `json:"tokens,omitempty"`
	Away
}

// Terminal is a session of a tmux server.
type Terminal struct {
	Socket  string `json:"socket"`
	Session string `json:"session"`
}

// Conversation is GET /v1/agents/{id}/conversation: some of what an agent that is Claude Code was told,
// said and did, by places in its transcript.
type Conversation struct {
	Session  string    `json:"session"` // another one has other places
	Messages []Message `json:"messages"`
	From     int64     `json:"from"` // before=FROM asks for the messages before these; 0 is the beginning
	Next     int64     `json:"next"` // after=NEXT asks for those that follow, also once there are more
	Size     int64     `json:"size"` // of the transcript; more than next where there are more
}

// Message is one of a conversation.
type Message struct {
	At   int64      `json:"at"` // the place of its line; several messages may have the same
	Time *time.Time `json:"time,omitempty"`
	// Kind is prompt (what the agent was told), note (what Claude Code or a hook said in the user's
	// place), words (what the agent said), tool (what it did), answer (what a person answered), failed
	// (a tool that failed) or fault (an error of the API).
	Kind string `json:"kind"`
	Text string `json:"text"`
	Cut  bool   `json:"cut,omitempty"` // it is longer
}

// Screen is GET /v1/agents/{id}/screen: what the terminal of an agent that is Claude Code shows.
type Screen struct {
	Time time.Time `json:"time"`
	// Text has a line for each row. With ansi=1 it has the escape sequences of colours, and no others.
	Text string `json:"text"`
	// Kind is what the daemon recognises: trust, login, api_key, onboarding, dialog; else it is left
	// out.
	Kind string `json:"kind,omitempty"`
}

// SessionQueue is one of GET /v1/queues: the commands that are typed into a session of Claude Code in tmux.
type SessionQueue struct {
	Session  string           `json:"session"` // tmux's name of it
	Path     string           `json:"path"`    // of its file
	Created  *time.Time       `json:"created,omitempty"`
	Done     int              `json:"done"` // commands that are
	Commands []SessionCommand `json:"commands"`
	Ended    string           `json:"ended,omitempty"` // complete, cancelled, stale, failed
	Why      string           `json:"why,omitempty"`   // it ended so
	Fault    string           `json:"fault,omitempty"` // why its file cannot be read
}

// SessionCommand is a command of a queue.
type SessionCommand struct {
	ID        int        `json:"id"`
	Command   string     `json:"command"`
	Status    string     `json:"status"`              // pending, active, done, failed
	Delivery  string     `json:"delivery,omitempty"`  // of an active one: waiting, typing, entered, confirmed
	Tries     int        `json:"tries,omitempty"`     // how often the session was not ready for it
	Why       string     `json:"why,omitempty"`       // it waits or failed
	Result    string     `json:"result,omitempty"`    // Claude Code's last message
	Completed *time.Time `json:"completed,omitempty"` // when it was done
}

// Session is one of GET /v1/sessions: Claude Code in a pane of tmux, by what its hooks told.
type Session struct {
	Session string    `json:"session"` // tmux's name of it
	Socket  string    `json:"socket"`  // of the tmux server
	PID     int       `json:"pid"`     // of the tmux server
	Pane    string    `json:"pane"`
	State   string    `json:"state"` // free, busy, asking, ended
	Since   time.Time `json:"since"` // when the state began
}

// Seen is one of GET /v1/seen: a session of Claude Code, in tmux or not, by what its hooks told.
type Seen struct {
	ID       string    `json:"id"` // Claude Code's
	Project  string    `json:"project,omitempty"`
	Pane     string    `json:"pane,omitempty"` // of tmux, in which it runs
	State    string    `json:"state"`          // asking, failed, gave_up, blocked, busy, stopped, ended
	Since    time.Time `json:"since"`          // when the state began
	Stop     string    `json:"stop,omitempty"` // the id of the last stop that was judged
	Headline string    `json:"headline,omitempty"`
	USD      float64   `json:"usd,omitempty"` // of reviews
}

// GateRun is one of GET /v1/gates: a stop of an agent that was judged by gates.
type GateRun struct {
	ID       string    `json:"id"` // of the hook call
	Time     time.Time `json:"time"`
	Event    string    `json:"event"`             // Stop, SubagentStop
	Session  string    `json:"session,omitempty"` // Claude Code's
	Pane     string    `json:"pane,omitempty"`    // of tmux, in which it ran
	Project  string    `json:"project,omitempty"`
	Decision string    `json:"decision"` // allow, block, reject
	// Result is what that came to: allowed, blocked, gave_up (allowed although something still fails), rejected.
	Result string `json:"result"`
	// NotEnforced is in a word why nothing could have held the stop back, where that is so.
	NotEnforced string `json:"not_enforced,omitempty"`
	// Headline says in one sentence how the stop was answered, and why.
	Headline   string     `json:"headline"`
	DurationMS int64      `json:"duration_ms"`
	Trees      []GateTree `json:"trees"`
}

// GateTree is a working tree in which a stop was judged.
type GateTree struct {
	Root   string `json:"root"`
	Status string `json:"status"`
	Why    string `json:"why,omitempty"` // no gate was asked
	Gates  []Gate `json:"gates"`
	More   int64  `json:"more,omitempty"` // skipped ones that are not listed
}

// Gate is the result of a gate.
type Gate struct {
	Job        string `json:"job"`
	Outcome    string `json:"outcome"` // passed, failed, proven, could_not_run, not_started, skipped
	Why        string `json:"why,omitempty"`
	DurationMS int64  `json:"duration_ms,omitempty"`
	Log        string `json:"log,omitempty"` // the path of a copy that stays for a month
}

// Send is the body of POST /v1/agents/{id}/send: a person's words to an agent.
type Send struct {
	ID      string `json:"id"` // of the request: the same one, sent again, is one
	Message string `json:"message"`
}

// Kill is the body of POST /v1/agents/{id}/kill.
type Kill struct {
	ID string `json:"id"` // of the request
}

// Reply is GET /v1/agents/{id}/answer?ref=REF&journal=POSITION: what a person answers to
// what an agent asks. It comes when there is an answer, or after a while without.
type Reply struct {
	State   string   `json:"state"`          // none, open, answered
	Over    bool     `json:"over,omitempty"` // none: it was open until now
	Option  string   `json:"option,omitempty"`
	Message string   `json:"message,omitempty"`
	Answers []string `json:"answers,omitempty"` // one for each question
}

// Signal is GET /v1/agents/{id}/signal?journal=POSITION.
type Signal struct {
	Signaled bool   `json:"signaled"`
	Kind     string `json:"kind,omitempty"`
	Message  string `json:"message,omitempty"`
}

// Decision is one of GET /v1/decisions.
type Decision struct {
	ID       string     `json:"id"`
	Owner    string     `json:"owner"`
	Name     string     `json:"name"` // of the owner
	Project  string     `json:"project"`
	Source   string     `json:"source"`
	Step     string     `json:"step"`
	Agent    string     `json:"agent,omitempty"`
	Context  string     `json:"context"`
	Options  []Option   `json:"options"`
	Created  time.Time  `json:"created"`
	Resolved *time.Time `json:"resolved,omitempty"`
	Chosen   string     `json:"chosen,omitempty"`
	Message  string     `json:"message,omitempty"`
	Closed   string     `json:"closed,omitempty"`
	// Ask is what the agent asks, where it is a question of its own.
	Ask     *Ask     `json:"ask,omitempty"`
	Answers []string `json:"answers,omitempty"` // one for each question
	// Expires is when it answers itself, with what OnExpiry means for it: go_on, done or
	// cancel.
	Expires  *time.Time `json:"expires,omitempty"`
	OnExpiry string     `json:"on_expiry,omitempty"`
	// Job is the job of the fleet that its owner is an attempt of, and JobCommand the command of that with its arguments.
	Job        string `json:"job,omitempty"`
	JobCommand string `json:"job_command,omitempty"`
	// Details are there where one decision was asked for.
	Details *Details `json:"details,omitempty"`
	Away
}

// Ask is what an agent asks a person: questions, whether its plan is good, or whether it
// may use a tool.
type Ask struct {
	Tool      string     `json:"tool,omitempty"`
	Plan      string     `json:"plan,omitempty"`
	Input     string     `json:"input,omitempty"` // what the tool is to be used for
	Questions []Question `json:"questions,omitempty"`
}

// Question is one of several that an agent asks at once.
type Question struct {
	Question string   `json:"question"`
	Header   string   `json:"header,omitempty"`
	Options  []Choice `json:"options,omitempty"`
	Multi    bool     `json:"multi,omitempty"` // several may be chosen
}

// Choice is one answer that a question offers.
type Choice struct {
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
}

// Details are what helps a person to decide. What could not be found out is left out.
type Details struct {
	LastMessage string   `json:"last_message,omitempty"` // of the agent
	Changes     []string `json:"changes,omitempty"`      // not committed in the working tree, a line for each file
	// Of a decision about a workspace: where that is, the commits since its base, and all changes since.
	Workspace *Workspace `json:"workspace,omitempty"`
	Commits   []string   `json:"commits,omitempty"`
	Diff      []string   `json:"diff,omitempty"`

	Gates   []string `json:"gates,omitempty"` // with an open failure
	USD     float64  `json:"usd,omitempty"`   // spent by all agents of the owner
	Tokens  int64    `json:"tokens,omitempty"`
	Running int64    `json:"running_seconds,omitempty"` // without the time that it waited
}

// Option is one answer to a decision.
type Option struct {
	Number      int    `json:"number"` // from 1
	Name        string `json:"name"`
	Description string `json:"description"`
	Recommended bool   `json:"recommended,omitempty"`
}

// Answer is the body of POST /v1/decisions/{id}/answer: an option's name or number, or
// words, or both, or an answer to each of the agent's questions.
type Answer struct {
	ID      string `json:"id"` // of the request: the same answer, sent again, is one
	Option  string `json:"option,omitempty"`
	Message string `json:"message,omitempty"`
	// Answers are one for each question that the agent asks: the labels that were chosen,
	// joined by ", ", or words.
	Answers []string `json:"answers,omitempty"`
}

// Cancel is the body of POST /v1/pipelines/{id}/cancel.
type Cancel struct {
	ID     string `json:"id"`                // of the request
	GiveUp bool   `json:"give_up,omitempty"` // it is held, and is to be forgotten
}

// Resume is the body of POST /v1/pipelines/{id}/resume.
type Resume struct {
	ID      string            `json:"id"` // of the request
	Message string            `json:"message,omitempty"`
	Vars    map[string]string `json:"vars,omitempty"`
}

// Status is GET /v1/status.
type Status struct {
	Version
	Store     string `json:"store"`    // where it is
	Events    uint64 `json:"position"` // of the last event
	Pipelines Counts `json:"pipelines"`
	Runs      Counts `json:"runs"`
	Agents    int    `json:"agents"`           // alive
	Queued    int    `json:"queued,omitempty"` // agents that wait until there is room for them
	Decisions int    `json:"decisions"`
	// Schedules are those of all projects whose schedules are on.
	Schedules *ScheduleCount `json:"schedules,omitempty"`
	// Trouble is what keeps the daemon from its work, such as a full disk, in words.
	Trouble []string `json:"trouble,omitempty"`
}

// Counts are how many owners are how far.
type Counts struct {
	Running   int `json:"running"`
	Queued    int `json:"queued,omitempty"` // until there is room in their group
	Waiting   int `json:"waiting"`
	Done      int `json:"done"`
	Failed    int `json:"failed"`
	Cancelled int `json:"cancelled"`
	Held      int `json:"held,omitempty"` // their records are damaged
}

// ScheduleCount is how many schedules are kept.
type ScheduleCount struct {
	Count int        `json:"count"`
	Next  *time.Time `json:"next,omitempty"` // when the first of them is due
}

// Schedule is one of GET /v1/schedules: a command or a pipeline with a schedule.
type Schedule struct {
	Project  string       `json:"project"`
	Runbook  string       `json:"runbook"`
	Kind     string       `json:"kind"` // command, pipeline
	Name     string       `json:"name"`
	Cron     string       `json:"cron"`
	Timezone string       `json:"timezone"`
	Missed   string       `json:"missed"` // skip, once
	On       bool         `json:"on"`     // the project's schedules are kept
	Next     *time.Time   `json:"next,omitempty"`
	Last     *ScheduleRun `json:"last,omitempty"`
}

// ScheduleRun is the result of one time of a schedule.
type ScheduleRun struct {
	Due    time.Time `json:"due"`
	Owner  string    `json:"owner,omitempty"`  // what was started
	Status string    `json:"status,omitempty"` // of that; removed where retention has removed it
	Error  string    `json:"error,omitempty"`  // why nothing was started, or why it failed
}

// ScheduleSwitch is the body of POST /v1/schedules.
type ScheduleSwitch struct {
	Project string `json:"project"`
	On      bool   `json:"on"`
}

// WorkItem is one of GET /v1/work: work in a queue of a project.
type WorkItem struct {
	ID       string            `json:"id"`
	Project  string            `json:"project"`
	Queue    string            `json:"queue"`
	Key      string            `json:"key,omitempty"` // no other item of the queue has it
	Vars     map[string]string `json:"vars,omitempty"`
	State    string            `json:"state"` // pending, running, done, failed (it is tried again), dead
	Worker   string            `json:"worker,omitempty"`
	Owner    string            `json:"owner,omitempty"`    // the pipeline that was started for it last
	Failures int               `json:"failures,omitempty"` // since it was added or retried
	Error    string            `json:"error,omitempty"`
	Ready    *time.Time        `json:"ready,omitempty"` // it is not tried again before
	Added    time.Time         `json:"added"`
	Updated  time.Time         `json:"updated"`
}

// AddWork is the body of POST /v1/work. An item that is in the queue by its key, or by its id, is not
// added again.
type AddWork struct {
	Project string    `json:"project"`
	Queue   string    `json:"queue"`
	Items   []NewItem `json:"items"`
}

// NewItem is an item to be added.
type NewItem struct {
	ID   string            `json:"id"` // 16 hex digits
	Vars map[string]string `json:"vars"`
}

// ChangeWork is the body of POST /v1/work/{id}/retry and /drop.
type ChangeWork struct{}

// Worker is one of GET /v1/workers.
type Worker struct {
	Project  string      `json:"project"`
	Runbook  string      `json:"runbook"`
	Name     string      `json:"name"`
	Queue    string      `json:"queue"`
	Pipeline string      `json:"pipeline"`
	Limit    int         `json:"limit"`
	On       bool        `json:"on"`      // a person started it
	Pending  int         `json:"pending"` // items of its queue
	Running  int         `json:"running"`
	Dead     int         `json:"dead"`
	Source   *WorkSource `json:"source,omitempty"`
}

// WorkSource is a command that lists the items of a queue.
type WorkSource struct {
	Command string     `json:"command"`
	Every   float64    `json:"every"` // seconds
	Asked   *time.Time `json:"asked,omitempty"`
	Error   string     `json:"error,omitempty"` // of the last time
}

// WorkerSwitch is the body of POST /v1/workers.
type WorkerSwitch struct {
	Project string `json:"project"`
	Name    string `json:"name"`
	On      bool   `json:"on"`
}

// Event is one of GET /v1/events, a stream of server-sent events whose ids are positions, and of GET
// /v1/events/history, a list.
type Event struct {
	Position uint64    `json:"position"`
	Owner    string    `json:"owner"`
	Cause    string    `json:"cause"`
	Time     time.Time `json:"time"`
	Facts    []string  `json:"facts"` // their types
	// Data are the facts with what they say, where data=1 asks for that.
	Data []Fact `json:"data,omitempty"`
	// Now is the owner after the event.
	Now *Owner `json:"now,omitempty"`
}

// Fact is what an event says. Values of environment variables are left out of it, and plans.
type Fact struct {
	Type string         `json:"type"` // such as step:failed
	Data map[string]any `json:"data"` // as docs/dev/format.md has it
}

// UIControl is the body of POST /v1/ui: turn the web page on and make a link, or one of the others.
type UIControl struct {
	Off     bool `json:"off,omitempty"`      // turn it off, and end all sign-ins
	SignOut bool `json:"sign_out,omitempty"` // end all sign-ins
	// Listen is an address for other machines, HOST:PORT, with the paths of a certificate and its key, or
	// with a certificate of our own.
	Listen string `json:"listen,omitempty"`
	Cert   string `json:"cert,omitempty"`
	Key    string `json:"key,omitempty"`
}

// UI is the answer to POST /v1/ui: where the web page is.
type UI struct {
	On     bool   `json:"on"`
	URL    string `json:"url,omitempty"`    // on this machine
	Remote string `json:"remote,omitempty"` // for other machines
	// Link signs one browser in, once, until it expires. A link for other machines has a code to type,
	// and itself as a QR code.
	Link    string     `json:"link,omitempty"`
	Code    string     `json:"code,omitempty"`
	QR      string     `json:"qr,omitempty"`
	Expires *time.Time `json:"expires,omitempty"`
	// Fingerprint is the SHA-256 of our own certificate, which browsers do not know.
	Fingerprint string `json:"fingerprint,omitempty"`
	SignedOut   int    `json:"signed_out,omitempty"` // how many browsers
}

// Backup is the body of POST /v1/backup, and the answer.
type Backup struct {
	Path string `json:"path"` // absolute
}

// Prune is the body of POST /v1/prune: remove what has ended.
type Prune struct {
	DryRun bool `json:"dry_run,omitempty"` // only tell what would be removed
	// Before is until when something must have ended to go by its age. Where it is left out, the
	// global configuration says it (retention.keep).
	Before *time.Time `json:"before,omitempty"`
}

// Pruned is what was removed, or would be.
type Pruned struct {
	DryRun    bool          `json:"dry_run,omitempty"`
	Before    time.Time     `json:"before"`     // what ended before that goes by its age
	KeepSize  int64         `json:"keep_size"`  // how many bytes the rest may take
	Owners    []PrunedOwner `json:"owners"`     // pipelines and agent runs
	Files     int           `json:"files"`      // of theirs
	Bytes     int64         `json:"bytes"`      // of those
	Events    int           `json:"events"`     // that were trimmed; not known before
	Kept      int           `json:"kept"`       // that have ended and stay
	KeptBytes int64         `json:"kept_bytes"` // of theirs
	Trouble   []string      `json:"trouble,omitempty"`
}

// PrunedOwner is a pipeline or an agent run that was removed, or would be.
type PrunedOwner struct {
	ID      string    `json:"id"`
	Kind    string    `json:"kind"` // pipeline, run
	Name    string    `json:"name"`
	Project string    `json:"project"`
	Status  string    `json:"status"` // done, failed, cancelled
	Ended   time.Time `json:"ended"`
	Files   int       `json:"files"`
	Bytes   int64     `json:"bytes"`
	Why     string    `json:"why"` // age, size
}

// Stop is the body of POST /v1/stop.
type Stop struct {
	Kill bool `json:"kill,omitempty"` // what the daemon started as well
}

// Failure is the body of every answer that is not 2xx.
type Failure struct {
	Code  string `json:"code"` // not_found, conflict, invalid, untrusted, forbidden, too_large, unavailable, internal
	Error string `json:"error"`
	Hint  string `json:"hint,omitempty"`
}
