//go:build unix

package world

import (
	"net"
	"os"
	"os/exec"
)

// Network is what the machines of a world reach each other by. A machine is a number, from 0.
//
// What is sent while a way is cut is late, and not lost: TCP sends it again. So a cut is silence, as that of a
// cable that was pulled, and not an error.
type Network interface {
	// Name says what the network is made of.
	Name() string
	// Address is the machine's address, for itself and for all others.
	Address(machine int) string
	// Behind is the address at which programs on the machine listen that others reach at its address.
	Behind(machine int) string
	// Open lets others reach a port of the machine. Port 0 is any that is free.
	Open(machine, port int) (opened int, err error)
	// Inside has a command run on a machine.
	Inside(machine int, cmd *exec.Cmd)
	// Loopback listens at a port of the machine's that only the machine itself reaches.
	Loopback(machine int) (net.Listener, error)
	// Cut lets nothing pass from a machine to another one, and Heal lets it pass again. Both may be repeated.
	Cut(from, to int) error
	Heal(from, to int) error
	// Left are the parts of the network that are still there. After Close there must be none.
	Left() []string
	Close() error
}

// Connect makes a network for so many machines. The variables mark every process of the world.
type Connect func(machines int, mark []string) (Network, error)

// Best is a network of namespaces where we may make them, and of loopback addresses and a proxy elsewhere.
func Best(machines int, mark []string) (Network, error) {
	if CanHaveNamespaces() {
		return Namespaces(machines, mark)
	}
	return Loopback(machines, mark)
}

// CanHaveNamespaces reports whether this process may make network namespaces, and drop packets in them.
func CanHaveNamespaces() bool {
	if os.Getuid() != 0 {
		return false
	}
	return exec.Command("unshare", "--net", "sh", "-c", "ip link add name a type bridge && nft add table inet a").Run() == nil
}
