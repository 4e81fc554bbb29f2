package beat

import (
	"bufio"
	"context"
	"encoding/binary"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/godbus/dbus/v5"

	"github.com/stopgate/stopgate/internal/control/fleet/link/linktest"
)

// systemBus is a bus of a test with a systemd that lets nothing wait for it.
type systemBus struct {
	t     *testing.T
	conn  net.Conn
	asked chan struct{} // the client has asked to be waited for; it listens then
}

// newSystemBus is the system's bus as long as the test lasts, for one client.
func newSystemBus(t *testing.T) *systemBus {
	path := filepath.Join(t.TempDir(), "bus")
	listener, err := net.Listen("unix", path)
	check(t, err)
	t.Cleanup(func() { listener.Close() })
	t.Setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path="+path)
	b := &systemBus{t: t, asked: make(chan struct{}, 10)}
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		b.conn = conn
		b.serve(bufio.NewReader(conn))
	}()
	return b
}

// serve lets the client in, and answers its calls.
func (b *systemBus) serve(from *bufio.Reader) {
	for {
		line, err := from.ReadString('\n')
		if err != nil {
			return
		}
		switch words := strings.Fields(strings.TrimLeft(line, "\x00")); words[0] {
		case "AUTH":
			if len(words) == 1 {
				b.write("REJECTED EXTERNAL\r\n")
			} else {
				b.write("OK 0123456789abcdef0123456789abcdef\r\n")
			}
		case "NEGOTIATE_UNIX_FD":
			b.write("AGREE_UNIX_FD\r\n")
		case "BEGIN":
			b.answer(from)
			return
		}
	}
}

func (b *systemBus) write(text string) {
	if _, err := b.conn.Write([]byte(text)); err != nil {
		b.t.Error(err)
	}
}

func (b *systemBus) answer(from *bufio.Reader) {
	for {
		call, err := dbus.DecodeMessage(from)
		if err != nil {
			return
		}
		reply := &dbus.Message{Type: dbus.TypeMethodReply, Headers: map[dbus.HeaderField]dbus.Variant{dbus.FieldReplySerial: dbus.MakeVariant(call.Serial())}}
		member, _ := call.Headers[dbus.FieldMember].Value().(string)
		switch member {
		case "Hello":
			reply.Body = []any{":1.1"}
			reply.Headers[dbus.FieldSignature] = dbus.MakeVariant(dbus.SignatureOf(":1.1"))
		case "Inhibit":
			reply.Type = dbus.TypeError
			reply.Headers[dbus.FieldErrorName] = dbus.MakeVariant("org.freedesktop.DBus.Error.AccessDenied")
		}
		b.send(reply)
		if member == "Inhibit" {
			b.asked <- struct{}{}
		}
	}
}

// signal tells that the machine is about to sleep, or has woken up.
func (b *systemBus) signal(name string, sleeps bool) {
	b.send(&dbus.Message{Type: dbus.TypeSignal, Body: []any{sleeps}, Headers: map[dbus.HeaderField]dbus.Variant{
		dbus.FieldPath: dbus.MakeVariant(dbus.ObjectPath("/org/freedesktop/login1")), dbus.FieldInterface: dbus.MakeVariant(manager),
		dbus.FieldMember: dbus.MakeVariant(name), dbus.FieldSignature: dbus.MakeVariant(dbus.SignatureOf(true)),
	}})
}

func (b *systemBus) send(m *dbus.Message) {
	if err := m.EncodeTo(b.conn, binary.LittleEndian); err != nil {
		b.t.Error(err)
	}
}

// A machine that is about to sleep says so, and again that it has woken up.
func TestIssue20AMachineSaysThatItSleeps(t *testing.T) {
	bus := newSystemBus(t)
	f := linktest.New(t)
	laptop := f.Member("laptop")
	heart := NewHeart(func() Beat { return Beat{} })
	said := make(chan bool)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		ended <- WatchSleep(ctx, func(sleeps bool) {
			if err := heart.Sleep(ctx, laptop, sleeps); err != nil {
				t.Error(err)
			}
			said <- sleeps
		})
	}()
	select {
	case <-bus.asked:
	case err := <-ended:
		t.Fatal(err)
	}
	bus.signal("PrepareForShutdown", true)
	for _, sleeps := range []bool{true, false} {
		bus.signal("PrepareForSleep", sleeps)
		if got := <-said; got != sleeps {
			t.Errorf("it said %v", got)
		}
		msg, err := laptop.Views.GetLastMsgForSubject(t.Context(), laptop.Beat("laptop"))
		check(t, err)
		if b, err := Decode(msg.Data); err != nil || b.Sleeping != sleeps {
			t.Errorf("the beat is %s", msg.Data)
		}
	}
	<-bus.asked // for the next time
	cancel()
	check(t, <-ended)
}

func TestASystemThatDoesNotTell(t *testing.T) {
	t.Setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path="+filepath.Join(t.TempDir(), "none"))
	if err := WatchSleep(t.Context(), func(bool) {}); err == nil {
		t.Error("a bus that there is not was found")
	}
}
