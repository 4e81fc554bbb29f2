package supervisor

import (
	"fmt"
	"strings"
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
		return fmt.Errorf("the session id %q is nothing but dots", id)
	}
	for i := range len(id) {
		if !inSession(id[i]) {
			return fmt.Errorf("the session id %q has other characters than letters, digits, dots, dashes and underscores", id)
		}
	}
	return nil
}

func inSession(b byte) bool {
	switch {
	case 'a' <= b && b <= 'z', 'A' <= b && b <= 'Z', '0' <= b && b <= '9':
		return true
	}
	return b == '.' || b == '_' || b == '-'
}
