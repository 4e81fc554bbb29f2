package transcript

import "bytes"

// BeginsCommand reports whether the JSON text behind some bytes of a transcript is the command line that a tool was
// called with.
func BeginsCommand(before []byte) bool {
	return bytes.HasSuffix(bytes.TrimRight(before, ` "`), []byte(`"command":`))
}
