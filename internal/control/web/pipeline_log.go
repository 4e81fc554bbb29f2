package web

import (
	"bytes"
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/agents/errand"
	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

const (
	// logWindow is how much of a log is looked at for a page.
	logWindow = 48 << 10
	// logLines is how many of its lines stand on the page.
	logLines = 200
	// longestLine is how much of a line is shown, in characters.
	longestLine = 2000
)

// logPart is a part of a log: its end, or what comes before another part.
type logPart struct {
	Step    string // whose lines these are; "" is for all
	Lines   []logLine
	Earlier string // the address of the part before
	Latest  string // the address of the log's end, on other parts
	Whole   string // the address of the log of all steps, where it is that of one
	Size    string
	Empty   bool   // nothing was written yet
	Trouble string // why the log of another machine is not there
}

// logLine is a line of a log. Only the first of several that belong together has a time.
type logLine struct {
	At   time.Time
	Step string
	Text string

	place int64
}

// log reads the part of a log that ends where the parameter "log" says.
func (r *Request) log(id, step string) (logPart, error) {
	part := logPart{Step: step}
	size := int64(0)
	err := r.Log(r.Context(), id, api.LogQuery{Offset: math.MaxInt64, Limit: 1, Begin: func(_, n int64) { size = n }}, &bytes.Buffer{})
	if err != nil {
		return part, err
	}
	part.Size, part.Empty = plain.Size(size), size == 0

	end := size
	if at, err := strconv.ParseInt(r.Value("log"), 10, 64); err == nil && at >= 0 && at < size {
		end, part.Latest = at, r.logAddress(step, -1)
	}
	if step != "" {
		part.Whole = r.logAddress("", -1)
	}

	from := max(0, end-logWindow)
	var text bytes.Buffer
	if end > from {
		err = r.Log(r.Context(), id, api.LogQuery{Offset: from, Limit: end - from, Begin: func(int64, int64) {}}, &text)
	}

	lines, begin := linesOf(text.Bytes(), from, step)
	part.Lines = lines
	if begin > 0 && begin < end {
		part.Earlier = r.logAddress(step, begin)
	}
	return part, err
}

// logAddress is the page with a part of the log, or with its end.
func (r *Request) logAddress(step string, end int64) string {
	values := url.Values{}
	if step != "" {
		values.Set("step", step)
	}
	if end >= 0 {
		values.Set("log", strconv.FormatInt(end, 10))
	}
	if len(values) == 0 {
		return r.URL.EscapedPath() + "#log"
	}
	return r.URL.EscapedPath() + "?" + values.Encode() + "#log"
}

// linesOf are the last lines of a text that begins at a place of the log, and the place where they begin.
func linesOf(text []byte, from int64, step string) (lines []logLine, begin int64) {
	begin = from
	if from > 0 { // the rest of a line whose beginning is not seen, unless there is nothing else
		if _, rest, cut := bytes.Cut(text, []byte("\n")); cut && len(rest) > 0 {
			begin += int64(len(text) - len(rest))
			text = rest
		}
	}

	place, taken := begin, step == ""
	for raw := range bytes.Lines(text) {
		at, label, words, labelled := errand.ParseLine(string(raw))
		if labelled {
			taken = step == "" || label == step
		}
		if taken {
			lines = append(lines, logLine{At: at, Step: label, Text: plain.Clip(plain.Line(strings.TrimRight(words, "\n")), longestLine), place: place})
		}
		place += int64(len(raw))
	}

	if more := len(lines) - logLines; more > 0 {
		lines = lines[more:]
		begin = lines[0].place
	}
	return lines, begin
}

// Stamp is the time of a line, which the browser shows in its own time zone.
func (l logLine) Stamp() string { return l.At.UTC().Format(time.RFC3339) }

// Clock is the time of a line without a browser's help.
func (l logLine) Clock() string {
	return fmt.Sprintf("%02d:%02d:%02d", l.At.UTC().Hour(), l.At.UTC().Minute(), l.At.UTC().Second())
}
