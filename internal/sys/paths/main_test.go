package paths

import (
	"errors"
	"os/user"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

var check = checktest.OK

func TestMain(m *testing.M) {
	environtest.Clean()
	currentUser = func() (*user.User, error) { return nil, errors.New("nobody") } // the same on every machine
	m.Run()
}
