package api

import (
	"errors"
	"net"
)

func listen(string) (net.Listener, error) {
	return nil, errors.New("the daemon does not run on Windows, where a socket cannot tell which user is connected")
}
