package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/record/journal"
)

const (
	maxBody = 1 << 20
	reading = 5 * time.Second // for a body; less than writing, since an answer waits for it
)

// newRequest checks the id and the query: a handler gets nothing else.
func newRequest(w http.ResponseWriter, r *http.Request, route *Route, id string) (*request, error) {
	if strings.Contains(route.Path, "{id}") && !daemonapi.IsID(id) {
		return nil, invalid("invalid id %.80q: use 1 to %d of the characters 0-9, a-f and -", id, daemonapi.MaxID)
	}
	if route.Body == nil && r.ContentLength != 0 {
		return nil, invalid("this request must not have a body")
	}
	query, err := parseQuery(r.URL.RawQuery, route.Query)
	if err != nil {
		return nil, err
	}
	return &request{Request: r, w: w, id: id, query: query}, nil
}

func parseQuery(raw string, known []Parameter) (map[string]string, error) {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return nil, invalid("invalid query: %v", err)
	}
	query := map[string]string{}
	for name, given := range values {
		i := slices.IndexFunc(known, func(p Parameter) bool { return p.Name == name })
		switch {
		case i < 0:
			return nil, invalid("unknown parameter %.80q: %s", name, parameters(known))
		case len(given) > 1:
			return nil, invalid("%s is given %d times", name, len(given))
		case given[0] == "":
			continue // as if it were left out
		}
		if err := known[i].check(given[0]); err != nil {
			return nil, invalid("%s: %v", name, err)
		}
		query[name] = given[0]
	}
	return query, nil
}

func parameters(known []Parameter) string {
	if len(known) == 0 {
		return "there are none"
	}
	var names []string
	for _, p := range known {
		names = append(names, p.Name)
	}
	return "use " + strings.Join(names, ", ")
}

// What values can be.
var (
	absolute  = which("is not an absolute path", isAbsolute)
	ownerID   = which("is not a valid id", daemonapi.IsID)
	reference = which("is not a valid call id", isReference)
	number    = which("is not a valid position", func(v string) bool { _, err := strconv.ParseUint(v, 10, 64); return err == nil })
	oneOrZero = which("is neither 0 nor 1", func(v string) bool { return v == "0" || v == "1" })
	positive  = which("is not a number of bytes", func(v string) bool { n, err := strconv.ParseInt(v, 10, 64); return err == nil && n > 0 })
	tailLines = which("is not a number from 1 to 10000", func(v string) bool { n, err := strconv.Atoi(v); return err == nil && 1 <= n && n <= 10_000 })
	place     = which("is not a place", func(v string) bool { _, err := strconv.ParseUint(v, 10, 63); return err == nil })
	factType  = which("is not the type of a fact", func(v string) bool { return v != "" && strings.Trim(v, "abcdefghijklmnopqrstuvwxyz_:") == "" })

	status      = oneAmong(statuses)
	agentStatus = oneAmong(agentStatuses)

	sessionState = oneAmong(sessionStates)
	seenState    = oneAmong(seenStates)
	itemState    = oneAmong(itemStates)
	decided      = oneAmong(decisions)
)

// oneAmong is a check for one of some words.
func oneAmong(words []string) func(value string) error {
	return which("is not one of "+strings.Join(words, ", "), func(v string) bool { return slices.Contains(words, v) })
}

var (
	statuses      = []string{"queued", "running", "waiting", "done", "failed", "cancelled", "held"}
	agentStatuses = []string{"queued", "running", "parked", "waiting", "exited"}
	sessionStates = []string{"free", "busy", "asking", "ended"}
	seenStates    = []string{"asking", "failed", "gave_up", "blocked", "busy", "stopped", "ended"}
	itemStates    = []string{"pending", "running", "done", "failed", "dead"}
	decisions     = []string{"allow", "block", "reject"}
)

// which is a check of a value, with what it says of one that is not so.
func which(not string, is func(value string) bool) func(value string) error {
	return func(value string) error {
		if !is(value) {
			return fmt.Errorf("%.80q %s", value, not)
		}
		return nil
	}
}

func isAbsolute(value string) bool {
	return filepath.IsAbs(value) && !strings.ContainsRune(value, 0) && utf8.ValidString(value)
}

// isReference tells the name of something that an agent asks: it is a file's name too.
func isReference(value string) bool {
	return len(value) <= 128 && strings.Trim(strings.ToLower(value), "0123456789abcdefghijklmnopqrstuvwxyz_-") == ""
}

func numberOrNow(value string) error {
	if value == "now" {
		return nil
	}
	return number(value)
}

func position(value string) error {
	_, err := journal.ParsePosition(value)
	return err
}

// decode reads the body: one JSON value of that type, and nothing that is not in it.
func decode[T any](s *server, r *request) (body T, err error) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return body, failure(http.StatusUnsupportedMediaType, "invalid", "the body must have the Content-Type application/json, not %.80q", r.Header.Get("Content-Type"))
	}
	text, err := readBody(r)
	if err != nil {
		return body, err
	}
	if !utf8.Valid(text) {
		return body, invalid("the body is not UTF-8")
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&body); err != nil {
		return body, s.malformed(r, err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return body, invalid("unexpected data after the JSON value of the body")
	}
	return body, nil
}

func readBody(r *request) ([]byte, error) {
	text, err := io.ReadAll(http.MaxBytesReader(r.w, r.Body, maxBody))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return nil, failure(http.StatusRequestEntityTooLarge, "too_large", "the body has more than 1 MiB")
	}
	if err != nil {
		return nil, invalid("cannot read the body: %v", err)
	}
	_ = http.NewResponseController(r.w).SetReadDeadline(time.Time{})
	return text, nil
}

// malformed is what is wrong with a body that could not be decoded.
func (s *server) malformed(r *request, err error) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if wrong.Field == "" {
			return invalid("the body must be an object, not %s", article(wrong.Value))
		}
		return invalid("field %q must be %s, not %s", wrong.Field, article(kindName(wrong)), article(wrong.Value))
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		e := invalid("unknown field %.80s", name)
		e.Hint = s.skew(r.Request)
		return e
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return invalid("the body's JSON is incomplete")
	}
	return invalid("the body is not valid JSON: %s", strings.TrimPrefix(err.Error(), "json: "))
}

// kindName is the name in JSON of what was wanted.
func kindName(e *json.UnmarshalTypeError) string {
	switch e.Type.Kind().String() {
	case "string":
		return "string"
	case "bool":
		return "boolean"
	case "slice":
		return "array"
	case "map", "struct":
		return "object"
	}
	return "number"
}

func article(noun string) string {
	noun, _, _ = strings.Cut(noun, " ") // "number 1e99"
	switch noun {
	case "bool":
		noun = "boolean"
	case "array", "object":
		return "an " + noun
	}
	return "a " + noun
}
