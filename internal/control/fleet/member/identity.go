// Package member is what makes a machine a member of a fleet: who it is, on disk, its keys, and its
// connection to the hubs.
//
// Everything is in the directory fleet of the state directory. The last file that is written is member.json:
// where it is missing, the machine is in no fleet, whatever else is there.
package member

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"github.com/stopgate/stopgate/internal/control/fleet/link"
	"github.com/stopgate/stopgate/internal/sys/atomicfile"
	"github.com/stopgate/stopgate/internal/sys/statefile"
)

// Identity is who a machine is in its fleet. It holds no secret.
type Identity struct {
	Version int    `json:"v"`
	Fleet   string `json:"fleet"`
	Name    string `json:"name"`
	User    string `json:"user"`
	Key     string `json:"key,omitempty"` // the public one
	CA      string `json:"ca,omitempty"`  // the fleet's certificate, in PEM
	Hubs    []Hub  `json:"hubs,omitempty"`
	// Hub is the number of the hub that this machine runs among Hubs, beginning with 1; 0 is none.
	Hub int `json:"hub,omitempty"`
	// NATS is the address of a cluster that is used instead of hubs.
	NATS string `json:"nats,omitempty"`
}

// Hub is where a hub is reached. They are all known when the fleet is made.
type Hub struct {
	Host string `json:"host"`
	Port int    `json:"port"` // of members; the other hubs use the next one
}

// defaultPort is the port of a hub for its members.
const defaultPort = 47422

// Address is where members reach it.
func (h Hub) Address() string { return net.JoinHostPort(h.Host, strconv.Itoa(h.Port)) }

// Routes is where the other hubs reach it.
func (h Hub) Routes() string { return net.JoinHostPort(h.Host, strconv.Itoa(h.Port+1)) }

// URL is the address for a client of NATS.
func (h Hub) URL() string { return "tls://" + h.Address() }

// HubName is what the hub of a number is called among the hubs.
func HubName(number int) string { return "hub-" + strconv.Itoa(number) }

// ParseHub reads HOST or HOST:PORT.
func ParseHub(text string) (Hub, error) {
	bad := func(why string) (Hub, error) {
		return Hub{}, fmt.Errorf("invalid hub address %.100q: %s", text, why)
	}
	host, port := text, defaultPort
	if h, p, err := net.SplitHostPort(text); err == nil {
		host = h
		if port, err = strconv.Atoi(p); err != nil || port < 1 || port > 65534 {
			return bad("the port must be a number from 1 to 65534; the next one is used, too")
		}
	}
	if net.ParseIP(host) == nil && !hostName(host) {
		return bad("give an IP address or a host name, and :PORT behind it where it is not 47422")
	}
	return Hub{Host: host, Port: port}, nil
}

// hostName reports whether a text can be the name of a host.
func hostName(text string) bool {
	for _, c := range text {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '.':
		default:
			return false
		}
	}
	return text != "" && len(text) <= 253 && text[0] != '-' && text[0] != '.'
}

// Dir is where all of a fleet lies.
func Dir(stateDir string) string { return filepath.Join(stateDir, "fleet") }

func (id Identity) path(stateDir string) string { return filepath.Join(Dir(stateDir), identityFile) }

const (
	identityFile = "member.json"
	seedFile     = "member.seed"
	// mostIdentity is far above what three hubs and a certificate take.
	mostIdentity = 64 << 10
)

// ErrNone says that a machine is in no fleet.
var ErrNone = errors.New("this machine is not in a fleet")

// MakeOrJoin is what a person does about that.
const MakeOrJoin = "create one with: stopgate fleet init NAME; or join one with: stopgate fleet join TOKEN"

// Load reads who this machine is. The error is ErrNone where it is in no fleet.
func Load(stateDir string) (Identity, error) {
	path := Identity{}.path(stateDir)
	id, err := statefile.Read[Identity](path, mostIdentity)
	if errors.Is(err, fs.ErrNotExist) {
		return Identity{}, ErrNone
	}
	if err == nil {
		err = id.check()
	}
	if err != nil {
		return Identity{}, fmt.Errorf("cannot read %s: %w", path, err)
	}
	return id, nil
}

// check checks what is used in subjects and addresses.
func (id Identity) check() error {
	if id.Version != 1 {
		return fmt.Errorf("it is of version %d, and this stopgate knows version 1: update stopgate", id.Version)
	}
	if err := link.CheckName(id.Fleet); err != nil {
		return err
	}
	if err := link.CheckName(id.Name); err != nil {
		return err
	}
	if id.Hub < 0 || id.Hub > len(id.Hubs) || (id.NATS == "") == (len(id.Hubs) == 0) {
		return errors.New("its hubs are not those of a fleet")
	}
	return nil
}

// Save makes this machine a member: everything else must be in place before.
func (id Identity) Save(stateDir string) error {
	id.Version = 1
	if err := id.check(); err != nil {
		return err
	}
	if err := makeDir(stateDir); err != nil {
		return err
	}
	return statefile.Write(id.path(stateDir), id)
}

// makeDir makes the fleet's directory, which is for its owner alone.
func makeDir(stateDir string) error {
	if err := os.MkdirAll(Dir(stateDir), 0o700); err != nil {
		return err
	}
	return os.Chmod(Dir(stateDir), 0o700)
}

// Own is the hub that this machine runs, if it does.
func (id Identity) Own() (hub Hub, runs bool) {
	if id.Hub == 0 {
		return Hub{}, false
	}
	return id.Hubs[id.Hub-1], true
}

// URLs are the addresses of all hubs. Our own comes first: it is the nearest.
func (id Identity) URLs() (urls []string) {
	if id.NATS != "" {
		return []string{id.NATS}
	}
	if own, runs := id.Own(); runs {
		urls = append(urls, own.URL())
	}
	for i, hub := range id.Hubs {
		if i != id.Hub-1 {
			urls = append(urls, hub.URL())
		}
	}
	return urls
}

// Forget ends this machine's membership: its daemon and its hub notice.
func Forget(stateDir string) error {
	path := Identity{}.path(stateDir)
	if err := os.Rename(path, path+".left"); err != nil {
		return err
	}
	return atomicfile.SyncDir(Dir(stateDir))
}
