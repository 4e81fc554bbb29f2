package api

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
)

// Route is one thing that can be asked. The document at /v1/openapi.json is made of
// these.
type Route struct {
	Method  string
	Path    string // with {id}
	Summary string
	Query   []Parameter
	Body    any // a value of its type; nil where there is none
	Answer  any // likewise; nil for streams

	handle handler
	stream func(*server, *request) error
	text   string // content type of a stream
}

// Stream is the content type of a route that answers with a stream, else "".
func (r Route) Stream() string { return r.text }

// Headers are those of an answer that say more than its body, with what they say. Each may be missing.
func (r Route) Headers() map[string]string {
	headers := map[string]string{}
	for _, p := range r.Query {
		switch p.Name {
		case "cursor", "before":
			if _, whole := r.Answer.(daemonapi.Conversation); !whole {
				headers["Link"] = `The next page of the list: <PATH>; rel="next".`
			}
		case "offset":
			headers[LogOffset], headers[LogSize] = "The byte at which the answer begins.", "How many bytes the log has."
		}
	}
	return headers
}

// Parameter is one of a query. Each may be left out.
type Parameter struct {
	Name    string
	Summary string
	check   func(value string) error
}

// eventParameters are those of both ways to read events.
var eventParameters = []Parameter{
	{"owner", "Only events of this pipeline or run.", ownerID},
	{"type", "Only events with a fact of one of these types, separated by commas, such as step:failed.", several(factType)},
	projectParam,
	{"data", "1 to have the data of facts, and not only their types.", oneOrZero},
}

// linked is what the summary of a list says about its pages.
const linked = " The header Link names the next page, with rel=\"next\", where there is one."

// Routes are all there are.
func Routes() []Route {
	routes := []Route{
		{Method: "GET", Path: "/v1/version", Summary: "The daemon's version.", Answer: daemonapi.Version{}, handle: (*server).versions},
		{Method: "GET", Path: "/v1/status", Summary: "The daemon's status.", Answer: daemonapi.Status{}, handle: (*server).status},
		{Method: "GET", Path: "/v1/fleet", Summary: "The fleet that this machine is in, as it sees it. Without a fleet, it has no name.", Answer: daemonapi.Fleet{}, handle: (*server).fleet},
		{
			Method: "GET", Path: "/v1/commands", Summary: "The commands of a project's runbooks.", Answer: []daemonapi.Command{}, handle: (*server).commands,
			Query: []Parameter{{"project", "The project's root. Required.", absolute}},
		},
		{Method: "POST", Path: "/v1/start", Summary: "Run a command of a runbook. Repeating the same id starts nothing.", Body: daemonapi.Start{}, Answer: daemonapi.Owner{}, handle: posted(inPath, checkStart, byBody(Plane.Start))},
	}

	routes = append(routes, ownerRoutes("pipeline", "/v1/pipelines", "pipeline")...)
	routes = append(routes, ownerRoutes("run", "/v1/runs", "agent that runs alone")...)
	routes = append(routes,
		Route{
			Method: "GET", Path: "/v1/schedules", Summary: "The schedules of a project, or of all projects whose schedules are on.", Answer: []daemonapi.Schedule{}, handle: inProject(Plane.Schedules),
			Query: []Parameter{{"project", "The project's root.", absolute}},
		},
		Route{Method: "POST", Path: "/v1/schedules", Summary: "Turn a project's schedules on or off.", Body: daemonapi.ScheduleSwitch{}, Answer: []daemonapi.Schedule{}, handle: posted(inPath, checkSwitch, switchSchedules)},
	)

	routes = append(routes,
		Route{
			Method: "GET", Path: "/v1/work", Summary: "The items of queues, newest first." + linked, Answer: []daemonapi.WorkItem{}, handle: pages(Plane.Work),
			Query: paged(
				projectParam, Parameter{"queue", "Only items of the queue with this name.", isText},
				Parameter{"status", "Only those with one of these states, separated by commas: " + strings.Join(itemStates, ", ") + ".", several(itemState)},
			),
		},
		Route{Method: "GET", Path: "/v1/work/{id}", Summary: "One item, by id or id prefix.", Answer: daemonapi.WorkItem{}, handle: one(Plane.WorkItem)},
		Route{Method: "POST", Path: "/v1/work", Summary: "Add items to a queue. Repeating the same id or key adds nothing.", Body: daemonapi.AddWork{}, Answer: []daemonapi.WorkItem{}, handle: posted(inPath, checkWork, addWork)},
		Route{Method: "POST", Path: "/v1/work/{id}/retry", Summary: "Retry an item that failed or is dead.", Body: daemonapi.ChangeWork{}, Answer: daemonapi.WorkItem{}, handle: posted(inPath, checkChange, byID[daemonapi.ChangeWork](Plane.RetryWork))},
		Route{Method: "POST", Path: "/v1/work/{id}/drop", Summary: "Remove an item that is not running.", Body: daemonapi.ChangeWork{}, Answer: daemonapi.WorkItem{}, handle: posted(inPath, checkChange, byID[daemonapi.ChangeWork](Plane.DropWork))},
		Route{
			Method: "GET", Path: "/v1/workers", Summary: "The workers of a project, or of all projects with started workers.", Answer: []daemonapi.Worker{}, handle: inProject(Plane.Workers),
			Query: []Parameter{{"project", "The project's root.", absolute}},
		},
		Route{Method: "POST", Path: "/v1/workers", Summary: "Start or stop a worker.", Body: daemonapi.WorkerSwitch{}, Answer: daemonapi.Worker{}, handle: posted(inPath, checkWorker, byBody(Plane.SwitchWorker))},
	)
	routes = append(routes, jobRoutes()...)

	return append(routes,
		Route{
			Method: "GET", Path: "/v1/agents", Summary: "The agents that pipelines and runs have now, the one that started last first." + linked, Answer: []daemonapi.Agent{}, handle: pages(Plane.Agents),
			Query: paged(
				Parameter{"all", "1 for those that they had before as well.", oneOrZero}, projectParam, hostParameter, nameParameter,
				Parameter{"owner", "Only those of this pipeline or run.", ownerID},
				Parameter{"status", "Only those with one of these, separated by commas: " + strings.Join(agentStatuses, ", ") + ".", several(agentStatus)},
			),
		},
		Route{Method: "GET", Path: "/v1/agents/{id}", Summary: "One agent.", Answer: daemonapi.Agent{}, handle: one(Plane.Agent)},
		Route{
			Method: "GET", Path: "/v1/agents/{id}/conversation", Summary: "Some of the conversation of an agent that is Claude Code, oldest first: the end of it, or what is after or before a place. Control characters and escape sequences are left out. There may be a few more messages than the limit, or fewer although there are more before them.", Answer: daemonapi.Conversation{}, handle: (*server).conversation,
			Query: []Parameter{
				{"after", "The place from which on to answer: next of an earlier answer.", place},
				{"before", "The place before which to answer: from of an earlier answer.", place},
				limitParameter,
			},
		},
		Route{
			Method: "GET", Path: "/v1/agents/{id}/screen", Summary: "What the terminal of a running agent that is Claude Code shows.", Answer: daemonapi.Screen{}, handle: (*server).screen,
			Query: []Parameter{{"ansi", "1 for the escape sequences of colours.", oneOrZero}},
		},
		Route{
			Method: "GET", Path: "/v1/agents/{id}/signal", Summary: "Whether an agent may stop because it has signalled.", Answer: daemonapi.Signal{}, handle: (*server).signal,
			Query: []Parameter{{"journal", "A position in the journal, SEGMENT:OFFSET. The daemon reads the journal up to it before it answers.", position}},
		},
		Route{
			Method: "GET", Path: "/v1/agents/{id}/answer", Summary: "A person's answer to an agent's question. Waits up to 25 seconds for it.", Answer: daemonapi.Reply{}, handle: (*server).reply,
			Query: []Parameter{
				{"ref", "The question: the id of the hook call. Required.", reference},
				{"journal", "A position in the journal, SEGMENT:OFFSET. The daemon reads the journal up to it before it answers.", position},
			},
		},
		Route{Method: "POST", Path: "/v1/agents/{id}/send", Summary: "Send a message to an agent.", Body: daemonapi.Send{}, Answer: daemonapi.Agent{}, handle: posted(inPath, checkSend, Plane.Send)},
		Route{Method: "POST", Path: "/v1/agents/{id}/kill", Summary: "Kill an agent's process.", Body: daemonapi.Kill{}, Answer: daemonapi.Agent{}, handle: posted(inPath, checkKill, Plane.Kill)},
		Route{
			Method: "GET", Path: "/v1/decisions", Summary: "Open decisions, or settled ones, newest first." + linked, Answer: []daemonapi.Decision{}, handle: pages(Plane.Decisions),
			Query: paged(
				Parameter{"settled", "1 for settled decisions.", oneOrZero}, projectParam, hostParameter,
				Parameter{"name", "Only those of pipelines and runs of this name.", isText},
				Parameter{"owner", "Only those of this pipeline or run.", ownerID},
			),
		},
		Route{Method: "GET", Path: "/v1/decisions/{id}", Summary: "One decision, by id or id prefix.", Answer: daemonapi.Decision{}, handle: one(Plane.Decision)},
		Route{Method: "POST", Path: "/v1/decisions/{id}/answer", Summary: "Answer a decision.", Body: daemonapi.Answer{}, Answer: daemonapi.Decision{}, handle: posted(inPath, checkAnswer, Plane.Answer)},
		Route{
			Method: "GET", Path: "/v1/events", Summary: "Events as server-sent events whose ids are positions. The header Last-Event-ID overrides after. An event named error reports a failure and ends the stream.",
			Query: append([]Parameter{{"after", "The position after which to start, or now for events that are still to come.", numberOrNow}}, eventParameters...),
			text:  "text/event-stream", stream: (*server).events,
		},
		Route{
			Method: "GET", Path: "/v1/events/history", Summary: "Past events, newest first, without now. A page may have fewer than the limit, or none, although there are more." + linked, Answer: []daemonapi.Event{}, handle: (*server).history,
			Query: append(slices.Clone(eventParameters), Parameter{"before", "The position before which to start; without it, with the newest event.", number}, sinceParameter, untilParameter, limitParameter),
		},
		Route{
			Method: "GET", Path: "/v1/workspaces", Summary: "The workspaces that are there, by name." + linked, Answer: []daemonapi.KeptWorkspace{}, handle: pages(Plane.Workspaces),
			Query: []Parameter{projectParam, limitParameter, cursorParameter},
		},
		Route{Method: "POST", Path: "/v1/workspaces/remove", Summary: "Remove a workspace that is not in use. One with work in it that would be lost is not removed.", Body: daemonapi.RemoveWorkspace{}, Answer: daemonapi.KeptWorkspace{}, handle: posted(inPath, checkRemove, byBody(Plane.RemoveWorkspace))},
		Route{
			Method: "GET", Path: "/v1/queues", Summary: "The queues of commands that are typed into sessions in tmux, newest first." + linked, Answer: []daemonapi.SessionQueue{}, handle: pages(Plane.SessionQueues),
			Query: paged(Parameter{"all", "1 for the last queue of each session that is at its end as well.", oneOrZero}, Parameter{"session", "Only that of this session, by tmux's name.", isText}),
		},
		Route{
			Method: "GET", Path: "/v1/sessions", Summary: "The sessions of Claude Code in tmux that have called a hook, the one whose state changed last first." + linked, Answer: []daemonapi.Session{}, handle: pages(Plane.Sessions),
			Query: paged(
				Parameter{"session", "Only those in this session, by tmux's name.", isText},
				Parameter{"status", "Only those with one of these states, separated by commas: " + strings.Join(sessionStates, ", ") + ".", several(sessionState)},
			),
		},
		Route{
			Method: "GET", Path: "/v1/seen", Summary: "The sessions of Claude Code that have called a hook, in tmux or not, the one whose state changed last first, as far as the journal is kept." + linked, Answer: []daemonapi.Seen{}, handle: pages(Plane.Seen),
			Query: paged(
				projectParam, Parameter{"session", "Only this one, by Claude Code's id.", isText},
				Parameter{"status", "Only those with one of these states, separated by commas: " + strings.Join(seenStates, ", ") + ".", several(seenState)},
			),
		},
		Route{
			Method: "GET", Path: "/v1/gates", Summary: "The stops of agents that gates have judged, newest first, as far as the journal is kept." + linked, Answer: []daemonapi.GateRun{}, handle: pages(Plane.Gates),
			Query: paged(
				projectParam, Parameter{"session", "Only those of this session of Claude Code.", isText},
				Parameter{"status", "Only those with one of these decisions, separated by commas: " + strings.Join(decisions, ", ") + ".", several(decided)},
			),
		},
		Route{Method: "POST", Path: "/v1/ui", Summary: "Turn the web page on, and make a link that signs a browser in once; or turn it off.", Body: daemonapi.UIControl{}, Answer: daemonapi.UI{}, handle: posted(inPath, checkUI, byBody(Plane.ControlUI))},
		Route{Method: "GET", Path: "/metrics", Summary: "Metrics of the daemon, as Prometheus reads them.", text: "text/plain; version=0.0.4; charset=utf-8", stream: scrape},
		Route{Method: "POST", Path: "/v1/backup", Summary: "Copy the store to a file.", Body: daemonapi.Backup{}, Answer: daemonapi.Backup{}, handle: posted(inPath, checkBackup, backup)},
		Route{Method: "POST", Path: "/v1/prune", Summary: "Remove pipelines and agent runs that have ended, with their logs and files, and trim the store.", Body: daemonapi.Prune{}, Answer: daemonapi.Pruned{}, handle: posted(inPath, checkPrune, byBody(Plane.Prune))},
		Route{Method: "POST", Path: "/v1/stop", Summary: "Stop the daemon.", Body: daemonapi.Stop{}, Answer: struct{}{}, handle: posted(inPath, checkStop, stop)},
		Route{Method: "GET", Path: "/v1/openapi.json", Summary: "This document.", Answer: json.RawMessage{}, handle: (*server).document},
	)
}

// ownerRoutes are those of one kind of owner.
func ownerRoutes(kind, path, what string) []Route {
	return []Route{
		{
			Method: "GET", Path: path, Summary: "Every " + what + ", without steps and variables, newest first." + linked, Answer: []daemonapi.Owner{}, handle: pagesOf(kind, Plane.Owners),
			Query: paged(
				Parameter{"status", "Only those with one of these, separated by commas: " + strings.Join(statuses, ", ") + ".", several(status)},
				projectParam, hostParameter, nameParameter, Parameter{"command", "Only those that this command started.", isText},
				Parameter{"parent", "Only those that steps of this one run, or any. Without it, those that no other one runs.", isParent},
			),
		},
		{Method: "GET", Path: path + "/{id}", Summary: "One " + what + ", by id or id prefix.", Answer: daemonapi.Owner{}, handle: oneOf(kind)},
		{Method: "POST", Path: path + "/{id}/cancel", Summary: "Cancel it.", Body: daemonapi.Cancel{}, Answer: daemonapi.Owner{}, handle: posted(ownerOf(kind), checkCancel, Plane.Cancel)},
		{Method: "POST", Path: path + "/{id}/resume", Summary: "Resume it.", Body: daemonapi.Resume{}, Answer: daemonapi.Owner{}, handle: posted(ownerOf(kind), checkResume, Plane.Resume)},
		{
			Method: "GET", Path: path + "/{id}/log", Summary: "Its log, or a part of it. The headers " + LogOffset + " and " + LogSize + " say where the answer begins and how many bytes the log has.",
			Query: []Parameter{
				{"follow", "1 to follow the log until it has ended.", oneOrZero},
				{"offset", "The byte to begin with.", place},
				{"limit", "How many bytes to read at most.", positive},
				{"tail", "Only so many lines at the end.", tailLines},
				{"step", "Only lines of this step. offset and limit still count all bytes.", isText},
			},
			text: "text/plain; charset=utf-8", stream: logOf(kind),
		},
		{Method: "GET", Path: path + "/{id}/graph", Summary: "Its steps as nodes, what leads from one to another as edges, and the state of each.", Answer: daemonapi.Graph{}, handle: graphOf(kind)},
		{Method: "GET", Path: path + "/{id}/graph.svg", Summary: "The graph as a picture.", text: "image/svg+xml", stream: pictureOf(kind)},
	}
}
