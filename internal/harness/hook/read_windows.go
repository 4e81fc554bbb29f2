package hook

import (
	"io"
	"time"
)

func readAll(r io.Reader, patience time.Duration) (data []byte, open bool, err error) {
	return readInBackground(r, patience)
}
