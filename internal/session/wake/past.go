package wake

import (
	"bytes"

	"github.com/stopgate/stopgate/internal/sys/atomicfile"
)

const (
	sentFile = "sent"
	// maxPast is how many keys are remembered. A hook that tells the same news
	// again does so within seconds.
	maxPast = 200
)

// past are the letters that were sent lately, the newest last. A file that is damaged
// says nothing: then a repeat cannot be told, and nothing else is lost.
func (b Box) past() (past []letterFile, err error) {
	text, err := readRegular(b.path(sentFile), 1<<20)
	if err != nil {
		return nil, ignoreMissing(err)
	}
	for stem := range bytes.FieldsSeq(text) {
		if f, ok := parseName(string(stem) + letterSuffix); ok {
			past = append(past, f)
		}
	}
	return past, nil
}

// remember adds a letter to the past. It is called under the lock.
func (b Box) remember(file letterFile) error {
	past, err := b.past()
	if err != nil {
		return err
	}
	if _, known := find(past, file.key); known {
		return nil
	}
	past = append(past, file)
	var text bytes.Buffer
	for _, f := range past[max(len(past)-maxPast, 0):] {
		text.WriteString(f.stem() + "\n")
	}
	return atomicfile.Write(b.path(sentFile), text.Bytes(), 0o600)
}
