package api

import (
	_ "embed"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/stopgate/stopgate/internal/agents/client"
	"github.com/stopgate/stopgate/internal/record/journal"
)

//go:generate go run ./openapigen openapi.json

//go:embed openapi.json
var document []byte

func (s *server) document(*request) (any, error) { return json.RawMessage(document), nil }

func (s *server) versions(*request) (any, error) { return s.plane.Version(), nil }

func (s *server) status(r *request) (any, error) { return s.plane.Status(r.Context()), nil }

func (s *server) commands(r *request) (any, error) {
	if r.query["project"] == "" {
		return nil, invalid("which project? ?project= is its root")
	}
	commands, err := s.plane.Commands(r.Context(), r.query["project"])
	return list(commands), err
}

// list is never null.
func list[T any](all []T) []T {
	if all == nil {
		return []T{}
	}
	return all
}

func (s *server) start(r *request) (any, error) {
	body, err := decode[client.Start](s, r)
	if err == nil {
		err = checkStart(body)
	}
	if err != nil {
		return nil, err
	}
	return s.plane.Start(r.Context(), body)
}

func listOf(kind string) func(*server, *request) (any, error) {
	return func(s *server, r *request) (any, error) {
		owners := []client.Owner{}
		for _, o := range s.plane.Owners(r.Context()) {
			if o.Kind == kind && (r.query["status"] == "" || r.query["status"] == o.Status) {
				owners = append(owners, o)
			}
		}
		return owners, nil
	}
}

func oneOf(kind string) func(*server, *request) (any, error) {
	return func(s *server, r *request) (any, error) { return s.owner(r, kind) }
}

// owner is the one whose id is in the path, if it is of that kind.
func (s *server) owner(r *request, kind string) (client.Owner, error) {
	owner, err := s.plane.Owner(r.Context(), r.id)
	if err == nil && owner.Kind != kind {
		names := map[string]string{"pipeline": "a pipeline", "run": "an agent that runs alone"}
		e := failure(http.StatusNotFound, "not_found", "%s is %s, not %s", owner.ID, names[owner.Kind], names[kind])
		e.Hint = "it is under /v1/" + owner.Kind + "s/" + owner.ID
		return client.Owner{}, e
	}
	return owner, err
}

func cancelOf(kind string) func(*server, *request) (any, error) {
	return func(s *server, r *request) (any, error) {
		body, err := decode[client.Cancel](s, r)
		if err == nil {
			err = checkRequest(body.ID)
		}
		if err != nil {
			return nil, err
		}
		owner, err := s.owner(r, kind)
		if err != nil {
			return nil, err
		}
		return s.plane.Cancel(r.Context(), owner.ID, body)
	}
}

func resumeOf(kind string) func(*server, *request) (any, error) {
	return func(s *server, r *request) (any, error) {
		body, err := decode[client.Resume](s, r)
		if err == nil {
			err = checkResume(body)
		}
		if err != nil {
			return nil, err
		}
		owner, err := s.owner(r, kind)
		if err != nil {
			return nil, err
		}
		return s.plane.Resume(r.Context(), owner.ID, body)
	}
}

func checkResume(body client.Resume) error {
	texts := []string{body.Message}
	for name, value := range body.Vars {
		texts = append(texts, name, value)
	}
	if err := checkTexts(texts...); err != nil {
		return err
	}
	return checkRequest(body.ID)
}

func (s *server) agents(r *request) (any, error) { return list(s.plane.Agents(r.Context())), nil }

func (s *server) agent(r *request) (any, error) { return s.plane.Agent(r.Context(), r.id) }

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
		return nil, invalid("what does the agent ask? ?ref= is the id of its hook's call")
	}
	end, err := r.stay(s.waiting, "hooks wait")
	if err != nil {
		return nil, err
	}
	defer end()
	return s.plane.Reply(r.Context(), r.id, r.query["ref"], r.through())
}

func (s *server) send(r *request) (any, error) {
	body, err := decode[client.Send](s, r)
	if err == nil {
		err = checkRequest(body.ID)
	}
	if err == nil {
		err = checkTexts(body.Message)
	}
	if err == nil && strings.TrimSpace(body.Message) == "" {
		err = invalid("field %q is missing", "message")
	}
	if err != nil {
		return nil, err
	}
	return s.plane.Send(r.Context(), r.id, body)
}

func (s *server) kill(r *request) (any, error) {
	body, err := decode[client.Kill](s, r)
	if err == nil {
		err = checkRequest(body.ID)
	}
	if err != nil {
		return nil, err
	}
	return s.plane.Kill(r.Context(), r.id, body)
}

func (s *server) decisions(r *request) (any, error) {
	return list(s.plane.Decisions(r.Context(), r.query["settled"] == "1")), nil
}

func (s *server) decision(r *request) (any, error) { return s.plane.Decision(r.Context(), r.id) }

func (s *server) answerDecision(r *request) (any, error) {
	body, err := decode[client.Answer](s, r)
	if err == nil {
		err = checkRequest(body.ID)
	}
	if err == nil {
		err = checkTexts(append(body.Answers, body.Option, body.Message)...)
	}
	if err == nil && body.Option == "" && body.Message == "" && len(body.Answers) == 0 {
		err = invalid("an answer needs an option or a message")
	}
	if err != nil {
		return nil, err
	}
	return s.plane.Answer(r.Context(), r.id, body)
}

func (s *server) backup(r *request) (any, error) {
	body, err := decode[client.Backup](s, r)
	if err == nil {
		if wrong := absolute(body.Path); wrong != nil {
			err = invalid("field %q: %v", "path", wrong)
		}
	}
	if err != nil {
		return nil, err
	}
	return body, s.plane.Backup(r.Context(), body.Path)
}

func (s *server) stop(r *request) (any, error) {
	body, err := decode[client.Stop](s, r)
	if err != nil {
		return nil, err
	}
	return struct{}{}, s.plane.Stop(r.Context(), body.Kill)
}
