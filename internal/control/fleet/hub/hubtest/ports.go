// Package hubtest has addresses for hubs of tests.
package hubtest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
)

// Port is a port of 127.0.0.1 that is free, and so is the next one. It is not one that the system gives to
// outgoing connections: those would take it while the hub is away.
func Port(t testing.TB) int {
	t.Helper()
	for range 1000 {
		if port := 10_000 + 2*rand.N(10_000); free(port) && free(port+1) {
			return port
		}
	}
	t.Fatal("no two free ports side by side")
	return 0
}

func free(port int) bool {
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return false
	}
	_ = l.Close()
	return true
}
