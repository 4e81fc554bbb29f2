package api

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/record/journal"
)

//go:generate go run ./openapigen openapi.json

//go:embed openapi.json
var document []byte

func (s *server) document(*request) (any, error) { return json.RawMessage(document), nil }

func (s *server) versions(*request) (any, error) { return s.plane.Version(), nil }

func (s *server) status(r *request) (any, error) { return s.plane.Status(r.Context()), nil }

func (s *server) fleet(r *request) (any, error) { return s.plane.Fleet(r.Context()), nil }

func (s *server) commands(r *request) (any, error) {
	if r.query["project"] == "" {
		return nil, invalid("the parameter project is missing: it is the project's root")
	}
	commands, err := s.plane.Commands(r.Context(), r.query["project"])
	return list(commands), err
}

func switchSchedules(p Plane, ctx context.Context, _ string, body daemonapi.ScheduleSwitch) ([]daemonapi.Schedule, error) {
	schedules, err := p.SwitchSchedules(ctx, body)
	return list(schedules), err
}

func addWork(p Plane, ctx context.Context, _ string, body daemonapi.AddWork) ([]daemonapi.WorkItem, error) {
	items, err := p.AddWork(ctx, body)
	return list(items), err
}

// list is never null.
func list[T any](all []T) []T {
	if all == nil {
		return []T{}
	}
	return all
}

// handler answers a request.
type handler func(*server, *request) (any, error)

// one is a handler that asks the plane for what the id in the path names.
func one[A any](ask func(p Plane, ctx context.Context, id string) (A, error)) handler {
	return func(s *server, r *request) (any, error) { return ask(s.plane, r.Context(), r.id) }
}

// inProject is a handler that asks the plane for a list of a project, or of all where none is named.
func inProject[T any](ask func(p Plane, ctx context.Context, root string) ([]T, error)) handler {
	return func(s *server, r *request) (any, error) {
		all, err := ask(s.plane, r.Context(), r.query["project"])
		return list(all), err
	}
}

// finder finds the id of what a request is about.
type finder func(*server, *request) (id string, err error)

// inPath is the id in the path.
func inPath(_ *server, r *request) (string, error) { return r.id, nil }

// posted is a handler that has the plane do something. The body is checked before anything else.
func posted[B, A any](find finder, check func(B) error, do func(p Plane, ctx context.Context, id string, body B) (A, error)) handler {
	return func(s *server, r *request) (any, error) {
		body, err := decode[B](s, r)
		if err == nil {
			err = check(body)
		}
		if err != nil {
			return nil, err
		}
		id, err := find(s, r)
		if err != nil {
			return nil, err
		}
		return do(s.plane, r.Context(), id, body)
	}
}

// byBody is for posted: what is done needs the body alone.
func byBody[B, A any](do func(p Plane, ctx context.Context, body B) (A, error)) func(Plane, context.Context, string, B) (A, error) {
	return func(p Plane, ctx context.Context, _ string, body B) (A, error) { return do(p, ctx, body) }
}

// byID is for posted: what is done needs the id alone.
func byID[B, A any](do func(p Plane, ctx context.Context, id string) (A, error)) func(Plane, context.Context, string, B) (A, error) {
	return func(p Plane, ctx context.Context, id string, _ B) (A, error) { return do(p, ctx, id) }
}

// ownerOf finds the owner of a kind whose id is in the path.
func ownerOf(kind string) finder {
	return func(s *server, r *request) (string, error) {
		owner, err := s.owner(r, kind)
		return owner.ID, err
	}
}

func backup(p Plane, ctx context.Context, _ string, body daemonapi.Backup) (daemonapi.Backup, error) {
	return body, p.Backup(ctx, body.Path)
}

func stop(p Plane, ctx context.Context, _ string, body daemonapi.Stop) (struct{}, error) {
	return struct{}{}, p.Stop(ctx, body.Kill)
}

func oneOf(kind string) handler {
	return func(s *server, r *request) (any, error) { return s.owner(r, kind) }
}

// owner is the one whose id is in the path, if it is of that kind.
func (s *server) owner(r *request, kind string) (daemonapi.Owner, error) {
	owner, err := s.plane.Owner(r.Context(), r.id)
	if err == nil && owner.Kind != kind {
		names := map[string]string{"pipeline": "a pipeline", "run": "an agent that runs alone"}
		e := failure(http.StatusNotFound, "not_found", "%s is %s, not %s", owner.ID, names[owner.Kind], names[kind])
		e.Hint = "use /v1/" + owner.Kind + "s/" + owner.ID
		return daemonapi.Owner{}, e
	}
	return owner, err
}

func graphOf(kind string) handler {
	return func(s *server, r *request) (any, error) {
		owner, err := s.owner(r, kind)
		if err != nil {
			return nil, err
		}
		return s.plane.Graph(r.Context(), owner.ID)
	}
}

func pictureOf(kind string) func(*server, *request) error {
	return func(s *server, r *request) error {
		owner, err := s.owner(r, kind)
		if err != nil {
			return err
		}
		picture, err := s.plane.Picture(r.Context(), owner.ID)
		if err != nil {
			return err
		}
		return r.send(picture)
	}
}

func (s *server) conversation(r *request) (any, error) {
	after, before := r.query["after"], r.query["before"]
	if after != "" && before != "" {
		return nil, invalid("after and before cannot be combined")
	}
	part := Range{Before: after == "", Limit: r.wanted().Limit}
	part.At, _ = strconv.ParseInt(cmp.Or(after, before), 10, 64) // was checked; 0 where neither is given
	if before != "" && part.At == 0 {
		return nil, invalid("there is nothing before 0")
	}
	c, err := s.plane.Conversation(r.Context(), r.id, part)
	c.Messages = list(c.Messages)
	return c, err
}

func (s *server) screen(r *request) (any, error) {
	return s.plane.Screen(r.Context(), r.id, r.query["ansi"] == "1")
}

func (s *server) signal(r *request) (any, error) {
	return s.plane.Signal(r.Context(), r.id, r.through())
}

// through is the position in the journal that is to be reached first.
func (r *request) through() (at journal.Position) {
	if text := r.query["journal"]; text != "" {
		at, _ = journal.ParsePosition(text) // was checked
	}
	return at
}

// reply waits for an answer.
func (s *server) reply(r *request) (any, error) {
	if r.query["ref"] == "" {
		return nil, invalid("the parameter ref is missing: it is the id of the hook call")
	}
	end, err := r.stay(s.waiting, "hooks are waiting")
	if err != nil {
		return nil, err
	}
	defer end()
	return s.plane.Reply(r.Context(), r.id, r.query["ref"], r.through())
}
