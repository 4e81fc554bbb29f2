package process

import (
	"bytes"
	"context"
	"os"
	"strconv"
	"syscall"
	"time"
)

// EndMarked ends every process that carries the mark, an entry such as
// "NAME=value", in its environment, wherever it went: one that made itself a
// session of its own is in no group that we know. It looks again until a look
// finds nothing, because what it kills may have been starting something. And it waits
// until they have ended: a large one holds its ports and locks for a while after a kill.
func EndMarked(mark string) {
	const looks = 100 // against something that forks faster than we look
	var ended []Identity
	for range looks {
		found := killMarked(mark)
		if len(found) == 0 {
			break
		}
		ended = append(ended, found...)
	}
	awaitEnds(ended)
}

// awaitEnds waits for processes that were killed; not for ever, as one that waits for a disk may take.
func awaitEnds(killed []Identity) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	for _, one := range killed {
		_ = one.AwaitEnd(ctx)
	}
}

// killMarked looks once for processes that carry the mark, kills them, and lists them.
func killMarked(mark string) (killed []Identity) {
	for _, pid := range pids() {
		if pid == os.Getpid() {
			continue
		}
		// A process that has ended and was not waited for has an empty environment.
		text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
		if err != nil || !marked(text, mark) {
			continue
		}
		one := IdentityOf(pid)
		if syscall.Kill(pid, syscall.SIGKILL) == nil {
			killed = append(killed, one)
		}
	}
	return killed
}

func marked(environ []byte, mark string) bool {
	for entry := range bytes.SplitSeq(environ, []byte{0}) {
		if rest, found := bytes.CutPrefix(entry, []byte(mark)); found && (len(rest) == 0 || rest[0] == '/') {
			return true
		}
	}
	return false
}
