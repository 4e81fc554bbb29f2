// Package ask carries requests of the API from one machine of a fleet to another. The one that is asked
// decides what the other may do, by the route and by the user in the fleet's record of that member: what the
// asker says about itself counts for nothing. The servers see to it that a member asks in its own name.
package ask

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/stopgate/stopgate/internal/control/fleet/link"
)

// Request is a request of the API.
type Request struct {
	Method string
	Path   string // with its query
	Body   []byte // JSON, where there is one
}

// Answer is what the API answers.
type Answer struct {
	Status int
	Header http.Header // those that say something about the answer
	Body   []byte
}

// The headers of messages. Those of the answer that are HTTP's go by their own names.
const (
	methodHeader  = "Sg-Method"
	pathHeader    = "Sg-Path"
	statusHeader  = "Sg-Status"
	versionHeader = "Sg-Version"
)

// maxPath is more than any path of ours has with its query: those have a cursor, and a path of a project.
const maxPath = 16 << 10

// largest is the largest body: headers come besides.
const largest = link.MaxRequest - 64<<10

// Encode is a request as it is sent.
func (r Request) Encode(subject, version string) (*nats.Msg, error) {
	switch {
	case len(r.Body) > largest:
		return nil, fmt.Errorf("a request of %d bytes: %d is the most", len(r.Body), largest)
	case len(r.Path) > maxPath:
		return nil, fmt.Errorf("a path of %d bytes: %d is the most", len(r.Path), maxPath)
	}
	m := nats.NewMsg(subject)
	m.Header.Set(methodHeader, r.Method)
	m.Header.Set(pathHeader, r.Path)
	m.Header.Set(versionHeader, version)
	m.Data = r.Body
	return m, nil
}

// decodeRequest reads a request. Headers of a newer version are passed over.
func decodeRequest(m *nats.Msg) (Request, error) {
	r := Request{Method: m.Header.Get(methodHeader), Path: m.Header.Get(pathHeader), Body: m.Data}
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodPost:
		return Request{}, fmt.Errorf("a request with the method %.20q", r.Method)
	case !strings.HasPrefix(r.Path, "/") || len(r.Path) > maxPath || strings.ContainsAny(r.Path, "\x00\r\n #"):
		return Request{}, fmt.Errorf("a request for %.80q", r.Path)
	case len(r.Body) > largest:
		return Request{}, fmt.Errorf("a request of %d bytes", len(r.Body))
	}
	return r, nil
}

// Encode is an answer as it is sent.
func (a Answer) Encode() *nats.Msg {
	m := nats.NewMsg("")
	m.Header.Set(statusHeader, strconv.Itoa(a.Status))
	for name, values := range a.Header {
		if passesOn(name) && len(values) > 0 {
			m.Header.Set(name, values[0])
		}
	}
	m.Data = a.Body
	return m
}

// passesOn reports whether a header of HTTP says something that the asker needs.
func passesOn(name string) bool {
	return name == "Content-Type" || name == "Link" || strings.HasPrefix(name, "Stopgate-")
}

// decodeAnswer reads an answer.
func decodeAnswer(m *nats.Msg) (Answer, error) {
	status, err := strconv.Atoi(m.Header.Get(statusHeader))
	if err != nil || status < 200 || status > 599 {
		return Answer{}, errors.New("an answer without a status")
	}
	a := Answer{Status: status, Header: http.Header{}, Body: m.Data}
	for name, values := range m.Header {
		if name = http.CanonicalHeaderKey(name); passesOn(name) && len(values) > 0 {
			a.Header.Set(name, values[0])
		}
	}
	return a, nil
}
