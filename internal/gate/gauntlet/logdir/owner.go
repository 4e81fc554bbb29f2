package logdir

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/stopgate/stopgate/internal/sys/process"
)

// Owner is who holds the lock, as its file says. A zero Owner is one that the
// file does not tell.
type Owner struct {
	Version int       `json:"v"`
	PID     int       `json:"pid"`
	Start   string    `json:"start"` // of the process, as the system tells it; "" where it does not
	Boot    string    `json:"boot"`  // of the machine, likewise
	Host    string    `json:"host"`
	Since   time.Time `json:"since"`
}

const (
	ownerVersion = 1
	// ownerSize is far more than an Owner takes.
	ownerSize = 4096
)

// String names the owner in a message.
func (o Owner) String() string {
	if o == (Owner{}) {
		return "an unknown process"
	}
	return fmt.Sprintf("process %d on %q since %s", o.PID, o.Host, o.Since.Local().Format(time.DateTime))
}

// self is this process as an owner.
func self(now time.Time) Owner {
	host, _ := os.Hostname() // without a name the advisory lock alone decides
	pid := os.Getpid()
	return Owner{
		Version: ownerVersion, PID: pid, Start: process.StartTime(pid), Boot: process.BootID(), Host: host,
		Since: now.UTC().Round(0),
	}
}

// lives reports whether the owner is a process that runs now and is not this
// one. It says no where it cannot know: then the advisory lock alone decides. A
// process with the owner's number that started at another time is another one.
func (o Owner) lives() bool {
	me := self(time.Time{})
	return o.Start != "" && o.Boot != "" && o.Host == me.Host && o.Boot == me.Boot && o.PID != me.PID &&
		process.StartTime(o.PID) == o.Start
}

// gone reports whether the owner was a process of this machine that runs no more. It says
// no where it cannot know.
func (o Owner) gone() bool {
	me := self(time.Time{})
	return o.Start != "" && o.Boot != "" && o.Host == me.Host && o.Boot == me.Boot &&
		process.StartTime(o.PID) != o.Start
}

// Mark tells what a run has started from what any other run has.
func (o Owner) Mark() string { return fmt.Sprintf("%d.%s.%d", o.PID, o.Start, o.Since.UnixNano()) }

func (o Owner) encode() ([]byte, error) {
	text, err := json.Marshal(o)
	return append(text, '\n'), err
}

// readOwner reads a lock file. Only a whole one of ours will do: anything else is
// somebody else's lock, of which we know nothing.
func readOwner(r io.Reader) (Owner, bool) {
	text, err := io.ReadAll(io.LimitReader(r, ownerSize+1))
	if err != nil || len(text) > ownerSize {
		return Owner{}, false
	}
	return parseOwner(text)
}

// ownerIn is the owner that an open lock file names; zero where it is not ours.
func ownerIn(file io.ReaderAt) Owner {
	owner, _ := readOwner(io.NewSectionReader(file, 0, ownerSize+1))
	return owner
}

func parseOwner(text []byte) (Owner, bool) {
	var o Owner
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if decoder.Decode(&o) != nil || o.Version != ownerVersion || o.PID <= 0 {
		return Owner{}, false
	}
	if rest := bytes.TrimSpace(text[decoder.InputOffset():]); len(rest) > 0 {
		return Owner{}, false
	}
	return o, true
}
