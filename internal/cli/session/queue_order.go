package session

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"

	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/project/document"
	"github.com/stopgate/stopgate/internal/session/driver"
	"github.com/stopgate/stopgate/internal/sys/jsonfile"
)

// orderExample is an order that is right.
const orderExample = `{"session": "main", "commands": ["/clear", "/gsd:plan-phase 3"]}`

// parseOrder reads who is to get which commands: an object that names both, or only the
// array of commands where the session is named beside it. The name of the text is for
// errors, which are all of the command line.
func parseOrder(name string, text []byte, session string) (driver.Order, error) {
	r := orderReader{driver.Order{Session: session}, nil}
	if err := r.parse(name, text); err != nil {
		if _, ok := errors.AsType[term.UsageError](err); ok {
			return driver.Order{}, err
		}
		return driver.Order{}, term.BadUsage(err, "for example: "+orderExample)
	}
	return r.order, nil
}

// orderReader gathers an order from a document.
type orderReader struct {
	order driver.Order
	doc   *jsonfile.Document
}

func (r *orderReader) parse(name string, text []byte) error {
	if at := firstNotUTF8(text); at >= 0 {
		return fmt.Errorf("%s: byte %d is not UTF-8", name, at+1)
	}
	switch start := bytes.TrimSpace(bytes.TrimPrefix(text, []byte(jsonfile.ByteOrderMark))); {
	case len(start) == 0:
		return errors.New(name + " is empty")
	case start[0] != '{' && start[0] != '[':
		return errors.New(name + " is not a JSON object or array")
	}
	doc, err := jsonfile.Parse(name, text)
	if err != nil {
		return err
	}
	r.doc = doc
	if _, isObject := doc.Object(); isObject {
		return r.object()
	}
	if r.order.Session == "" {
		return term.BadUsage(doc.Refuse(doc.Root(), "an array of commands does not name the session"), "name the session with: --session NAME")
	}
	return r.commands(doc.Root(), "commands")
}

func (r *orderReader) object() error {
	object, _ := r.doc.Object()
	if err := r.doc.Unique(object, func(string) bool { return true }); err != nil {
		return err
	}
	for i := range object.Members {
		if err := r.member(&object.Members[i]); err != nil {
			return err
		}
	}
	switch {
	case r.order.Session == "":
		return r.doc.Refuse(r.doc.Root(), "session is missing")
	case len(r.order.Commands) == 0:
		return r.doc.Refuse(r.doc.Root(), "commands is missing")
	}
	return nil
}

func (r *orderReader) member(m *hujson.ObjectMember) error {
	switch key := jsonfile.StringOf(&m.Name); key {
	case "session":
		return r.session(&m.Value)
	case "commands":
		return r.commands(&m.Value, key)
	default:
		err := r.doc.Refuse(&m.Name, fmt.Sprintf("unknown key %q", key))
		if near := document.Suggest(key, []string{"session", "commands"}); near != "" {
			return term.BadUsage(err, "did you mean "+near+"?")
		}
		return err
	}
}

func (r *orderReader) session(v *hujson.Value) error {
	session, err := r.text(v, "session")
	switch {
	case err != nil:
		return err
	case session == "":
		return r.doc.Refuse(v, "session must not be empty")
	case r.order.Session != "" && r.order.Session != session:
		return term.BadUsage(r.doc.Refuse(v, fmt.Sprintf("session is %q, but --session %q", session, r.order.Session)), "name it once")
	}
	r.order.Session = session
	return nil
}

func (r *orderReader) commands(v *hujson.Value, at string) error {
	list, isList := jsonfile.ArrayOf(v)
	if !isList {
		return r.doc.Refuse(v, at+" "+jsonfile.MustBe("an array of strings", v))
	}
	if len(list.Elements) == 0 {
		return r.doc.Refuse(v, at+" must not be empty")
	}
	for i := range list.Elements {
		text, err := r.text(&list.Elements[i], fmt.Sprintf("%s[%d]", at, i))
		if err != nil {
			return err
		}
		r.order.Commands = append(r.order.Commands, text)
	}
	return nil
}

// text is a string as it was meant. Half of a character, which an escape can stand for,
// would be replaced by a sign that nobody wrote.
func (r *orderReader) text(v *hujson.Value, at string) (string, error) {
	if jsonfile.KindOf(v) != '"' {
		return "", r.doc.Refuse(v, at+" "+jsonfile.MustBe("a string", v))
	}
	text := jsonfile.StringOf(v)
	written := strings.ToLower(string(v.Value.(hujson.Literal)))
	if strings.Count(text, "\uFFFD") > strings.Count(written, "\uFFFD")+strings.Count(written, `\ufffd`) {
		return "", r.doc.Refuse(v, at+` has an unpaired surrogate: \ud800 to \udfff are valid only in pairs`)
	}
	return text, nil
}

// firstNotUTF8 is where a text is not UTF-8, or -1.
func firstNotUTF8(text []byte) int {
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && size == 1 {
			return at
		}
		at += size
	}
	return -1
}
