package hub

import (
	"cmp"
	"crypto/rand"
	"crypto/subtle"
	"crypto/tls"
	"encoding/base64"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"github.com/stopgate/stopgate/internal/control/fleet/link"
	"github.com/stopgate/stopgate/internal/control/fleet/member"
	"github.com/stopgate/stopgate/internal/sys/statefile"
)

// hubUser is who the hub itself is at its own server. Its password lives as long as the process.
const hubUser = "hub"

// users are who the server lets in. The server asks for each connection, so that there is nothing to reload.
type users struct {
	stateDir    string
	names       link.Names
	hub         int
	secret      string
	certificate *tls.Certificate
	disconnect  func(key string)

	mu      sync.Mutex
	members map[string]member.Record // by name
}

func newUsers(h *hub, certificate *tls.Certificate) (*users, error) {
	known, err := member.LoadMembers(h.StateDir)
	if statefile.IsDamaged(err) {
		h.Log.Error("the copy of the members' list is damaged; it is read from the fleet's store again", "error", err)
	} else if err != nil {
		return nil, err
	}
	u := &users{
		stateDir: h.StateDir, names: h.names, hub: h.id.Hub, secret: rand.Text(), certificate: certificate,
		members: map[string]member.Record{},
	}
	for _, m := range known {
		u.members[m.Name] = m
	}
	return u, nil
}

// Check implements server.Authentication.
func (u *users) Check(c server.ClientAuthentication) bool {
	options := c.GetOpts()
	if options.Nkey == "" {
		if subtle.ConstantTimeCompare([]byte(options.Password), []byte(u.secret)) != 1 {
			return false
		}
		c.RegisterUser(&server.User{Username: hubUser})
		return true
	}
	if c.Kind() != server.CLIENT || !proves(options, c.GetNonce()) {
		return false
	}
	// Whoever takes a member away does so before or after this, and then finds its connection.
	u.mu.Lock()
	defer u.mu.Unlock()
	may := u.permissions(options.Nkey)
	if may == nil {
		return false
	}
	c.RegisterUser(&server.User{Username: options.Nkey, Permissions: may})
	return true
}

// proves reports whether a client has the key that it names.
func proves(options *server.ClientOpts, nonce []byte) bool {
	signature, err := base64.RawURLEncoding.DecodeString(options.Sig)
	if err != nil {
		return false
	}
	key, err := nkeys.FromPublicKey(options.Nkey)
	return err == nil && len(nonce) > 0 && key.Verify(nonce, signature) == nil
}

// permissions are those of a key; nil where it is unknown. The lock is held.
func (u *users) permissions(key string) *server.Permissions {
	for _, m := range u.members {
		if m.Key == key && !m.Left {
			return Permissions(u.names, m.Name)
		}
	}
	for _, invitation := range readInvitations(u.stateDir) {
		if invitation.Key == key {
			return joining(u.names, u.hub, key)
		}
	}
	return nil
}

// Permissions are what a member may do. The last part of a subject that names a member is the one who speaks,
// so that no member speaks in another's name.
func Permissions(n link.Names, me string) *server.Permissions {
	publish := []string{
		n.LogSubjects(link.Job(">")), n.LogSubjects(link.Cap(">")), n.LogSubjects(link.Anchor(me)), n.LogSubjects("store.barrier"),
		n.View(me, ">"), n.Beat(me), n.Ask("*", me), n.AskHub("*", "*", me),
	}
	for _, stream := range []string{n.LogStream(), n.LogStream() + "-snapshots", n.ViewStream()} {
		for _, call := range []string{
			"STREAM.INFO." + stream, "STREAM.MSG.GET." + stream, "CONSUMER.CREATE." + stream + ".>",
			"CONSUMER.INFO." + stream + ".*", "CONSUMER.DELETE." + stream + ".*", "CONSUMER.MSG.NEXT." + stream + ".*",
		} {
			publish = append(publish, "$JS.API."+call)
		}
	}
	return &server.Permissions{
		Publish:   &server.SubjectPermission{Allow: publish},
		Subscribe: &server.SubjectPermission{Allow: []string{n.Ask(me, "*"), link.Inbox(me) + ".>"}},
		Response:  &server.ResponsePermission{MaxMsgs: 1, Expires: answerPatience},
	}
}

// answerPatience is how long a member may take to answer a request of another one.
const answerPatience = 5 * time.Minute

// joining is what the key of an invitation may do: ask the hub that invited, and hear the answer.
func joining(n link.Names, hub int, key string) *server.Permissions {
	return &server.Permissions{
		Publish:   &server.SubjectPermission{Allow: []string{n.AskHub(member.HubName(hub), member.VerbJoin, key)}},
		Subscribe: &server.SubjectPermission{Allow: []string{link.Inbox(key) + ".>"}},
	}
}

// disconnect closes the connections of a key.
func disconnect(s *server.Server, key string) {
	connections, err := s.Connz(&server.ConnzOptions{Username: true, User: key, Limit: 1 << 20})
	if err != nil {
		return
	}
	for _, one := range connections.Conns {
		_ = s.DisconnectClientByID(one.Cid) // it has gone by itself
	}
}

// all are the records of all members, also of those that left.
func (u *users) all() []member.Record {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.sorted()
}

func (u *users) sorted() []member.Record {
	return slices.SortedFunc(maps.Values(u.members), func(a, b member.Record) int { return cmp.Compare(a.Name, b.Name) })
}

// get is the record of a member.
func (u *users) get(name string) (member.Record, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	r, found := u.members[name]
	return r, found
}

// set takes a record over, and keeps it. Whoever had the member's name with another key, or has left, is
// disconnected at once.
func (u *users) set(r member.Record) error {
	u.mu.Lock()
	before, known := u.members[r.Name]
	if before == r {
		u.mu.Unlock()
		return nil
	}
	u.members[r.Name] = r
	err := member.SaveMembers(u.stateDir, u.sorted())
	u.mu.Unlock()
	if known && !before.Left && before.Key != "" && (r.Left || r.Key != before.Key) {
		u.disconnect(before.Key)
	}
	return err
}
