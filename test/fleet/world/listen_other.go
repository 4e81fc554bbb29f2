//go:build unix && !linux

package world

import (
	"errors"
	"net"
)

// Loopback is never called: there are no namespaces.
func (n *namespaces) Loopback(int) (net.Listener, error) { return nil, errors.ErrUnsupported }
