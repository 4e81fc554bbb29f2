package probe

import (
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/harness/endpoint"
)

// reply is what came back over HTTP.
type reply struct {
	status   int
	header   http.Header
	location string // the host that it redirects to
	body     []byte // the first of it; none where the status says all
}

func (r reply) ok() bool { return r.status >= 200 && r.status < 300 }

// noSuchPage reports that the endpoint does not know the address we asked for. Many
// gateways then show the page that people see in a browser.
func (r reply) noSuchPage() bool {
	return r.status == http.StatusNotFound || r.status == http.StatusMethodNotAllowed || r.ok() && r.isWebPage()
}

func (r reply) isWebPage() bool {
	kind, _, _ := mime.ParseMediaType(r.header.Get("Content-Type"))
	return kind == "text/html"
}

// judge says what the reply means for a provider that names that model; empty if it
// names none, and the model we asked for was our own choice.
func (r reply) judge(model string) endpoint.Answer {
	verdict, detail := endpoint.Rejected, r.words()
	switch {
	case r.ok() && r.isWebPage():
		detail = "answers with a web page: is the path in ANTHROPIC_BASE_URL right?"
	case r.ok():
		verdict, detail = endpoint.Valid, ""
	case r.status < 400 && r.location != "":
		detail = "redirects to " + r.location
	case r.status == http.StatusTooManyRequests:
		verdict, detail = endpoint.Valid, "rate limited"
	case r.status >= 500:
		verdict = endpoint.Unreachable
	case model == "" && r.blamesModel():
		verdict, detail = endpoint.Valid, ""
	}
	return endpoint.Answer{Verdict: verdict, Status: r.status, Detail: detail}
}

// blamesModel reports that the endpoint took the key and only does not have the
// model. A path that does not exist is a not_found_error too.
func (r reply) blamesModel() bool {
	if r.status != http.StatusBadRequest && r.status != http.StatusNotFound {
		return false
	}
	said := strings.ToLower(endpoint.Said(r.body))
	return strings.Contains(said, "model") || strings.Contains(said, commonModel)
}

func (r reply) words() string {
	return endpoint.Words(r.status, http.StatusText(r.status), endpoint.Said(r.body))
}

// reason is why no reply came.
func reason(cause, err error, limit time.Duration) string {
	switch {
	case errors.Is(cause, errPatience):
		return fmt.Sprintf("no answer within %s", limit)
	case cause != nil:
		return "ended before an answer came"
	}
	var request *url.Error
	if errors.As(err, &request) {
		err = request.Err // without the URL
	}
	text := strings.TrimPrefix(err.Error(), "net/http: HTTP/1.x transport connection broken: ")
	if strings.Contains(text, "malformed") { // it quotes what came, whatever that was
		text, _, _ = strings.Cut(text, ` "`)
	}
	return text
}
