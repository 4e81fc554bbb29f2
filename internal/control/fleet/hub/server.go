package hub

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/stopgate/stopgate/internal/control/fleet/link"
	"github.com/stopgate/stopgate/internal/control/fleet/member"
)

// handshake is how long TLS may take on a machine that is busy.
const handshake = 10 * time.Second

// options are those of the server. There are two ports: for members, who prove who they are by their keys,
// and for the other hubs, who need a certificate of the fleet.
func (h *hub) options(certificate *tls.Certificate) (*server.Options, error) {
	own, _ := h.id.Own()
	pool, err := h.id.Pool()
	if err != nil {
		return nil, err
	}

	members := &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{*certificate}}
	hubs := members.Clone()
	hubs.ClientAuth, hubs.ClientCAs, hubs.RootCAs = tls.RequireAndVerifyClientCert, pool, pool

	o := &server.Options{
		ServerName: member.HubName(h.id.Hub),
		Host:       listenHost(own), Port: own.Port, ClientAdvertise: own.Address(),
		TLS: true, TLSConfig: members, TLSTimeout: handshake.Seconds(),
		CustomClientAuthentication: h.users, AlwaysEnableNonce: true, AuthTimeout: 2 * handshake.Seconds(),
		JetStream: true, StoreDir: filepath.Join(member.HubDir(h.StateDir), "jetstream"),
		SyncAlways: true, MaxPayload: link.MaxRequest, NoSigs: true,
		PingInterval: 10 * time.Second, MaxPingsOut: 2, // a member whose machine is gone
		DisableShortFirstPing: true,
	}
	if len(h.id.Hubs) == 1 {
		return o, nil
	}

	o.Cluster = server.ClusterOpts{
		Name: h.id.Fleet, Host: listenHost(own), Port: own.Port + 1, Advertise: own.Routes(),
		TLSConfig: hubs, TLSTimeout: handshake.Seconds(),
	}
	for i, other := range h.id.Hubs {
		if i != h.id.Hub-1 {
			o.Routes = append(o.Routes, &url.URL{Scheme: "nats", Host: other.Routes()})
		}
	}
	return o, nil
}

// listenVariable names the address to listen at where that is not the one at which others reach the hub: a
// container's, or behind a proxy.
const listenVariable = "STOPGATE_HUB_LISTEN"

// listenHost is where to listen: at the hub's address where that is one of this machine's, and otherwise at
// all of them, because the address is forwarded to one.
func listenHost(own member.Hub) string {
	if host := os.Getenv(listenVariable); host != "" {
		return host
	}
	if net.ParseIP(own.Host) != nil && bindable(own.Host) {
		return own.Host
	}
	if bindable("::") {
		return "::"
	}
	return "0.0.0.0"
}

func bindable(host string) bool {
	listener, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return false
	}
	_ = listener.Close()
	return true
}

// CheckPorts returns an error where the hub's ports are not free.
func CheckPorts(own member.Hub, cluster bool) error {
	ports := []int{own.Port}
	if cluster {
		ports = append(ports, own.Port+1)
	}
	for _, port := range ports {
		listener, err := net.Listen("tcp", net.JoinHostPort(listenHost(own), strconv.Itoa(port)))
		if err != nil {
			return fmt.Errorf("the hub cannot listen at port %d: %w", port, err)
		}
		_ = listener.Close()
	}
	return nil
}

// lookupPatience is for the addresses of a name.
const lookupPatience = 5 * time.Second

// CheckPlace returns an error where this machine cannot be the one that others reach at a hub's address: it has
// none of the addresses that it stands for. A person who forwards that address sets the variable. A
// name that this machine cannot look up may be right.
func CheckPlace(ctx context.Context, own member.Hub) error {
	if os.Getenv(listenVariable) != "" {
		return nil
	}
	addresses := []string{own.Host}
	if net.ParseIP(own.Host) == nil {
		ctx, cancel := context.WithTimeout(ctx, lookupPatience)
		defer cancel()
		found, err := net.DefaultResolver.LookupHost(ctx, own.Host)
		if err != nil {
			return nil
		}
		addresses = found
	}
	if slices.ContainsFunc(addresses, bindable) {
		return nil
	}
	return fmt.Errorf("%w: this machine does not have the address %s", errElsewhere, own.Host)
}

// errElsewhere says that a hub is to run on another machine.
var errElsewhere = errors.New("the token is for another machine")

// logger hands what the server says to our log. Its notices are about each connection between hubs.
// What it cannot live with goes to fatal: the server itself would go on without its port.
type logger struct {
	*slog.Logger
	fatal chan<- string
}

func (l logger) Noticef(format string, v ...any) { l.Debug(fmt.Sprintf(format, v...)) }
func (l logger) Warnf(format string, v ...any)   { l.Warn(fmt.Sprintf(format, v...)) }
func (l logger) Errorf(format string, v ...any)  { l.Error(fmt.Sprintf(format, v...)) }
func (l logger) Debugf(string, ...any)           {}
func (l logger) Tracef(string, ...any)           {}

func (l logger) Fatalf(format string, v ...any) {
	why := fmt.Sprintf(format, v...)
	l.Error(why)
	select {
	case l.fatal <- why:
	default:
	}
}
