package daemon

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/stopgate/stopgate/internal/agents/errand"
	"github.com/stopgate/stopgate/internal/control/api"
)

// openLog reads what is asked for of a log, whose size it returns. A log that is not there yet is
// empty.
func openLog(path string, q api.LogQuery) (log *logReader, size int64, err error) {
	log = &logReader{path: path, from: q.Offset, limit: q.Limit}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		log.from = 0
		return log, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, 0, err
	}
	size = info.Size()
	log.from = min(q.Offset, size)
	if q.Tail > 0 {
		log.from, err = tailOf(file, size, q.Tail, q.Step)
	}
	return log, size, err
}

// tailWindow is how much of a log's end is looked at first. Then it is twice as much, and so on.
const tailWindow = 64 << 10

// tailOf is where the last so many lines begin, of a step or of all.
func tailOf(file io.ReaderAt, size int64, lines int, step string) (int64, error) {
	for window := int64(tailWindow); ; window *= 2 {
		from := max(size-window, 0)
		text := make([]byte, size-from)
		if _, err := file.ReadAt(text, from); err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		if from > 0 { // the rest of a line whose beginning is not seen
			_, rest, _ := bytes.Cut(text, []byte("\n"))
			from += int64(len(text) - len(rest))
			text = rest
		}
		if at, enough := lastLinesOf(text, lines, step); enough || size <= window {
			return from + int64(at), nil
		}
	}
}

// lastLinesOf is where the last so many lines of a step begin in a text, and whether there are so
// many.
func lastLinesOf(text []byte, lines int, step string) (at int, enough bool) {
	starts := []int{}
	filter := stepFilter{step: step}
	begin := 0
	for line := range bytes.Lines(text) {
		if filter.takes(line) {
			starts = append(starts, begin)
		}
		begin += len(line)
	}
	if len(starts) < lines {
		return 0, false
	}
	return starts[len(starts)-lines], true
}

// stepFilter tells the lines of a step. Lines without a label belong to the one before.
type stepFilter struct {
	step string // "" takes all
	last bool   // whether the line before was taken
}

func (f *stepFilter) takes(line []byte) bool {
	if step, labelled := labelOf(line); labelled {
		f.last = step == f.step
	}
	return f.step == "" || f.last
}

// labelOf is the step of a line of a log.
func labelOf(line []byte) (step string, labelled bool) {
	_, step, _, labelled = errand.ParseLine(string(line[:min(len(line), 256)]))
	return step, labelled
}

// stepWriter passes on the lines of a step.
type stepWriter struct {
	to     io.Writer
	filter stepFilter
	part   []byte // of a line that has not ended yet
}

// longestPart is how much is kept of a line that does not end.
const longestPart = 1 << 20

func (w *stepWriter) Write(p []byte) (int, error) {
	w.part = append(w.part, p...)
	var taken []byte
	for {
		end := bytes.IndexByte(w.part, '\n') + 1
		if end == 0 && len(w.part) > longestPart {
			end = len(w.part)
		}
		if end == 0 {
			break
		}
		if w.filter.takes(w.part[:end]) {
			taken = append(taken, w.part[:end]...)
		}
		w.part = w.part[end:]
	}
	if len(taken) > 0 {
		if _, err := w.to.Write(taken); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}
