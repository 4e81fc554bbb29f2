package supervisor

import (
	"fmt"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/plain"
)

// maxSession bounds a session id, which is part of file names.
const maxSession = 128

// CheckSession says why a session id may not become part of a file name. The id
// comes from outside: what passes cannot lead out of the state directory.
func CheckSession(id string) error {
	switch {
	case id == "":
		return fmt.Errorf("the session id is empty")
	case len(id) > maxSession:
		return fmt.Errorf("the session id %q… has %d bytes, %d are allowed", id[:40], len(id), maxSession)
	case strings.Trim(id, ".") == "":
		return fmt.Errorf("the session id %q has only dots", id)
	case !plain.IsWord(id, ".", maxSession):
		return fmt.Errorf("the session id %q has characters other than letters, digits, dots, dashes and underscores", id)
	}
	return nil
}
