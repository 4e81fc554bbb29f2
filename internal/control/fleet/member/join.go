package member

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/stopgate/stopgate/internal/control/fleet/link"
)

// askPatience is how long a hub may take to answer: the fleet's store may elect a leader meanwhile.
const askPatience = 30 * time.Second

// Join makes this machine a member of the fleet that a token is for. A join that was cut off can be
// repeated with the same token.
func Join(ctx context.Context, stateDir string, t Token, name string) (Identity, error) {
	if id, err := Load(stateDir); err == nil {
		return Identity{}, &InFleetError{id, t.Fleet}
	} else if !errors.Is(err, ErrNone) {
		return Identity{}, err
	}

	request := JoinRequest{Name: name}
	var err error
	if request.Key, err = MakeKey(stateDir); err != nil {
		return Identity{}, err
	}
	if t.Runs {
		if request.Request, err = RequestCertificate(stateDir); err != nil {
			return Identity{}, err
		}
	}

	answer, err := t.ask(ctx, request)
	if err != nil {
		return Identity{}, err
	}
	id := answer.Identity
	if err := t.matches(id, request); err != nil {
		return Identity{}, err
	}

	if t.Runs {
		if err := SaveHub(stateDir, answer.Certificate, answer.Members); err != nil {
			return Identity{}, err
		}
		if _, err := HubCertificate(stateDir, id); err != nil {
			return Identity{}, err
		}
	}
	return id, id.Save(stateDir)
}

// ErrNoAnswer says that a hub was asked and does not answer.
var ErrNoAnswer = errors.New("the hub has not answered")

// InFleetError says that a machine is in a fleet already.
type InFleetError struct {
	Identity
	Wanted string
}

func (e *InFleetError) Error() string {
	if e.Fleet == e.Wanted {
		return fmt.Sprintf("this machine is in the fleet %s already, as %s", e.Fleet, e.Name)
	}
	return fmt.Sprintf("this machine is in the fleet %s, as %s, and cannot be in the fleet %s too: a machine is in one fleet at a time", e.Fleet, e.Name, e.Wanted)
}

// ask asks the hub that the token names.
func (t Token) ask(ctx context.Context, request JoinRequest) (answer JoinAnswer, err error) {
	pair, err := nkeys.FromSeed([]byte(t.Seed))
	if err != nil {
		return answer, err
	}
	invitation, err := t.ID()
	if err != nil {
		return answer, err
	}

	nc, err := connect(ctx, []string{t.Hub.URL()}, []nats.Option{
		nats.Nkey(invitation, pair.Sign), nats.Secure(pinned(t.Hub, t.CA)), nats.NoReconnect(),
		nats.CustomInboxPrefix(link.Inbox(invitation)), nats.Name("join"),
	})
	switch {
	case errors.Is(err, nats.ErrAuthorization):
		return answer, fmt.Errorf("the hub at %s does not know this token: a later one has replaced it, it is for a fleet that has ended, or it is very old; on a hub run: stopgate fleet invite", t.Hub.Address())
	case errors.Is(err, errNotPinned):
		return answer, fmt.Errorf("%w; on a hub of the fleet that you mean run: stopgate fleet invite", err)
	case err != nil && ctx.Err() == nil:
		return answer, &SilentHubError{t.Hub, err}
	case err != nil:
		return answer, err
	}
	defer nc.Close()

	err = Ask(ctx, nc, link.Names{Fleet: t.Fleet}.AskHub(HubName(t.Number), VerbJoin, invitation), request, &answer)
	if err == nil && answer.Error != "" {
		err = errors.New(answer.Error)
	}
	return answer, err
}

// SilentHubError says that a hub cannot be reached.
type SilentHubError struct {
	Hub Hub
	Err error
}

func (e *SilentHubError) Error() string {
	text := fmt.Sprintf("the hub at %s does not answer: is that machine up, and its port %d open for this one?", e.Hub.Address(), e.Hub.Port)
	if errors.Is(e.Err, nats.ErrNoServers) {
		return text // which says nothing else
	}
	return fmt.Sprintf("%s (%v)", text, e.Err)
}

func (e *SilentHubError) Unwrap() error { return e.Err }

// Ask sends a request to a hub, and takes its answer.
func Ask(ctx context.Context, nc *nats.Conn, subject string, request, answer any) error {
	text, err := json.Marshal(request)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	msg, err := nc.RequestWithContext(ctx, subject, text)
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		return fmt.Errorf("%w: it is not running", ErrNoAnswer)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w within %s", ErrNoAnswer, askPatience)
	case err != nil:
		return err
	}
	if err := json.Unmarshal(msg.Data, answer); err != nil {
		return fmt.Errorf("the hub's answer: %w", err)
	}
	return nil
}

// matches checks that a hub's answer makes us what we asked to be.
func (t Token) matches(id Identity, request JoinRequest) error {
	certificate, err := id.Authority()
	switch {
	case err != nil:
		return fmt.Errorf("the hub's answer: %w", err)
	case !bytes.Equal(Fingerprint(certificate), t.CA), id.Fleet != t.Fleet:
		return errors.New("the hub's answer is about another fleet")
	case id.Key != request.Key, id.Name != request.Name, t.Runs != (id.Hub > 0):
		return errors.New("the hub's answer is about another machine")
	}
	return nil
}
