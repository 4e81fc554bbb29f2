//go:build unix

package world

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os/exec"
)

// direct is a network of loopback addresses that cannot be cut: nothing is between the machines.
type direct struct{ prefix string }

// Direct is a network of loopback addresses with nothing between them, to measure.
func Direct(int, []string) (Network, error) {
	return direct{fmt.Sprintf("127.%d.%d.", 1+rand.IntN(250), rand.IntN(250))}, nil
}

func (direct) Name() string { return "loopback, direct" }

func (d direct) Address(i int) string { return fmt.Sprintf("%s%d", d.prefix, i+1) }

func (d direct) Behind(i int) string { return d.Address(i) }

func (d direct) Open(i, port int) (int, error) {
	l, err := net.Listen("tcp", fmt.Sprintf("%s:%d", d.Address(i), port))
	if err != nil {
		return 0, err
	}
	port = l.Addr().(*net.TCPAddr).Port
	return port, l.Close() // it was free a moment ago
}

func (direct) Inside(int, *exec.Cmd) {}

func (direct) Loopback(int) (net.Listener, error) { return net.Listen("tcp", "127.0.0.1:0") }

func (direct) Cut(int, int) error {
	return errors.New("nothing is between the machines that could be cut")
}
func (direct) Heal(int, int) error { return nil }

func (direct) Left() []string { return nil }
func (direct) Close() error   { return nil }
