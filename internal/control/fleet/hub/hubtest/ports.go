// Package hubtest has addresses for hubs of tests.
package hubtest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
)

// Port is a port of 127.0.0.1 that is free, and so is the next one. It is not one that the system gives to
// outgoing connections: those would take it while the hub is away. Nor is it given to another test, of this process or
// another one, before this one has ended.
func Port(t testing.TB) int {
	t.Helper()
	for range 1000 {
		port := 10_000 + 2*rand.N(10_000)
		if claim(t, port) && free(port) && free(port+1) {
			return port
		}
	}
	t.Fatal("no two free ports side by side")
	return 0
}

// claim takes a port for a test. Hubs use TCP, so a socket for UDP shows all processes that the port is taken.
func claim(t testing.TB, port int) bool {
	socket, err := net.ListenPacket("udp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return false
	}
	t.Cleanup(func() { _ = socket.Close() })
	return true
}

func free(port int) bool {
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return false
	}
	_ = l.Close()
	return true
}
