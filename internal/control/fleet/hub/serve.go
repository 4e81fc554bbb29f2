package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/stopgate/stopgate/internal/control/fleet/link"
	"github.com/stopgate/stopgate/internal/control/fleet/member"
	storage "github.com/stopgate/stopgate/internal/control/store/jetstream"
	"github.com/stopgate/stopgate/internal/sys/pause"
)

// requestPatience is how long one request may take.
const requestPatience = 25 * time.Second

// atOnce is how many requests are answered at once. Who asks more often gets no answer, and asks again.
const atOnce = 32

// serve answers requests of members and of machines that join. The last part of the subject is who asks: the
// server has seen to that.
func (h *hub) serve(ctx context.Context) error {
	free := make(chan struct{}, atOnce)
	_, err := h.nc.Subscribe(h.names.AskHub(member.HubName(h.id.Hub), "*", "*"), func(msg *nats.Msg) {
		select {
		case free <- struct{}{}:
			go func() {
				defer func() { <-free }()
				h.answer(ctx, msg)
			}()
		default:
		}
	})
	if err != nil {
		return err
	}
	return h.nc.Flush()
}

func (h *hub) answer(ctx context.Context, msg *nats.Msg) {
	ctx, cancel := context.WithTimeout(ctx, requestPatience)
	defer cancel()

	parts := strings.Split(msg.Subject, ".")
	if len(parts) < 2 {
		return
	}
	verb, from := parts[len(parts)-2], parts[len(parts)-1]
	if !strings.HasPrefix(msg.Reply, link.Inbox(from)+".") {
		return // an answer elsewhere would be the hub's word there
	}

	var answer any
	switch verb {
	case member.VerbJoin:
		answer = h.join(ctx, from, msg.Data)
	case member.VerbLeave:
		answer = h.leave(ctx, from, msg.Data)
	case member.VerbStatus:
		answer = h.status(ctx)
	default:
		answer = member.LeaveAnswer{Error: fmt.Sprintf("this hub, of version %s, does not know %q", h.Version, verb)}
	}

	text, err := json.Marshal(answer)
	if err == nil {
		err = msg.Respond(text)
	}
	if err != nil {
		h.Log.Error("cannot answer", "from", from, "verb", verb, "error", err)
	}
}

// join takes a machine in.
func (h *hub) join(ctx context.Context, invitation string, body []byte) (answer member.JoinAnswer) {
	answer, err := h.tryJoin(ctx, invitation, body)
	if err != nil {
		h.Log.Warn("a machine could not join", "error", err)
		return member.JoinAnswer{Error: err.Error()}
	}
	h.Log.Info("a machine has joined", "member", answer.Identity.Name, "user", answer.Identity.User, "hub", answer.Identity.Hub)
	return answer
}

func (h *hub) tryJoin(ctx context.Context, invitation string, body []byte) (answer member.JoinAnswer, err error) {
	var request member.JoinRequest
	if err := json.Unmarshal(body, &request); err != nil {
		return answer, err
	}
	if err := link.CheckName(request.Name); err != nil {
		return answer, err
	}
	if !nkeys.IsValidPublicUserKey(request.Key) {
		return answer, errors.New("the machine's key is invalid")
	}
	if had, known := h.users.get(request.Name); known && !had.Left && had.Key != request.Key {
		return answer, fmt.Errorf("%w: %s is in the fleet already; choose another name with --name", member.ErrTaken, request.Name)
	}

	one, err := use(ctx, h.StateDir, invitation, request, h.Now())
	if err != nil {
		return answer, err
	}

	answer.Identity = h.id
	answer.Identity.Name, answer.Identity.User, answer.Identity.Key, answer.Identity.Hub = request.Name, one.User, request.Key, one.Hub
	if one.Hub > 0 {
		if answer.Certificate, err = h.sign(one.Hub, request.Request); err != nil {
			return answer, err
		}
	}

	record := member.Record{Name: request.Name, User: one.User, Key: request.Key, Hub: one.Hub, Time: h.Now().UTC().Truncate(time.Second)}
	if err := h.admit(ctx, record); err != nil {
		return answer, err
	}
	if one.Hub > 0 {
		answer.Members = h.users.all()
	}
	return answer, nil
}

func (h *hub) sign(number int, request string) (string, error) {
	authority, err := member.LoadAuthority(h.StateDir, h.id)
	if err != nil {
		return "", fmt.Errorf("cannot sign the certificate of a hub: %w", err)
	}
	return authority.Sign(h.id.Hubs[number-1], number, request, h.Now())
}

// admit makes a machine a member. Hubs join before the fleet's store can be made, which needs them all:
// then the record waits in our copy.
func (h *hub) admit(ctx context.Context, record member.Record) error {
	if h.state.open() == nil && record.Hub > 0 {
		return h.users.set(record)
	}
	log := h.awaitStore(ctx)
	if log == nil {
		return fmt.Errorf("the fleet cannot take members in yet: %s", h.waits())
	}
	return h.write(ctx, log, record)
}

// electionPatience is how long hubs may take to choose a leader.
const electionPatience = 15 * time.Second

// awaitStore is the store; nil where it cannot be used. Where enough hubs are there, it waits: they choose a leader.
func (h *hub) awaitStore(ctx context.Context) *storage.Store {
	ctx, cancel := context.WithTimeout(ctx, electionPatience)
	defer cancel()
	for {
		log := h.state.open()
		if log != nil || !h.enough() || pause.For(ctx, 100*time.Millisecond) != nil {
			return log
		}
	}
}

// enough reports whether the hubs that are there can use the store.
func (h *hub) enough() bool {
	there := 1
	for _, p := range h.peers() {
		if p.Online {
			there++
		}
	}
	return enoughOf(there, len(h.id.Hubs), h.made())
}

// enoughOf reports whether so many hubs can use the store: all of them to make it, then more than half.
func enoughOf(there, hubs int, made bool) bool { return there == hubs || made && 2*there > hubs }

// leave takes a member away: itself, or another one if the founder asks.
func (h *hub) leave(ctx context.Context, from string, body []byte) (answer member.LeaveAnswer) {
	var request member.LeaveRequest
	err := json.Unmarshal(body, &request)
	if err == nil {
		err = h.tryLeave(ctx, from, request.Member)
	}
	if err != nil {
		return member.LeaveAnswer{Error: err.Error()}
	}
	h.Log.Info("a machine has left", "member", request.Member, "by", from)
	left, _ := h.users.get(request.Member)
	answer.Hub = left.Hub
	return answer
}

func (h *hub) tryLeave(ctx context.Context, from, name string) error {
	record, known := h.users.get(name)
	switch {
	case !known:
		return fmt.Errorf("the fleet has no member %s", name)
	case from != name && !h.founder(from):
		return errors.New("only the machine that made the fleet can take another one out")
	case record.Left:
		return nil
	}
	record.Left, record.Time = true, h.Now().UTC().Truncate(time.Second)
	if done, err := h.leaveEarly(record); done || err != nil {
		return err
	}
	log := h.awaitStore(ctx)
	if log == nil {
		return fmt.Errorf("nothing was changed: %s", h.waits())
	}
	return h.write(ctx, log, record)
}

// leaveEarly takes a hub out before the fleet's store is made, which needs all of them: the founder's hub keeps
// that in its copy, as it keeps those that joined. Once there is a store, it alone decides.
func (h *hub) leaveEarly(record member.Record) (done bool, err error) {
	h.early.Lock()
	defer h.early.Unlock()
	if h.id.Hub != 1 || len(h.id.Hubs) == 1 || h.state.open() != nil || h.made() {
		return false, nil
	}
	return true, h.users.set(record)
}

// founder reports whether a member made the fleet: it runs the first hub.
func (h *hub) founder(name string) bool {
	r, known := h.users.get(name)
	return known && !r.Left && r.Hub == 1
}
