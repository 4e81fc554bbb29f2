package probe

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/control/exchange"
	"github.com/stopgate/stopgate/internal/harness/endpoint"
)

// reply is what came back over HTTP. It has no body where the status says all.
type reply struct{ exchange.Reply }

// noSuchPage reports that the endpoint does not know the address we asked for. Many
// gateways then show the page that people see in a browser.
func (r reply) noSuchPage() bool {
	return r.Status == http.StatusNotFound || r.Status == http.StatusMethodNotAllowed || r.OK() && r.IsWebPage()
}

// judge says what the reply means for a provider that names that model; empty if it
// names none, and the model we asked for was our own choice.
func (r reply) judge(model string) endpoint.Answer {
	verdict, detail := endpoint.Rejected, r.words()
	switch {
	case r.OK() && r.IsWebPage():
		detail = "answers with a web page: is the path in ANTHROPIC_BASE_URL right?"
	case r.OK():
		verdict, detail = endpoint.Valid, ""
	case r.Status < 400 && r.Location != "":
		detail = "redirects to " + r.Location
	case r.Status == http.StatusTooManyRequests:
		verdict, detail = endpoint.Valid, "rate limited"
	case r.Status >= 500:
		verdict = endpoint.Unreachable
	case model == "" && r.blamesModel():
		verdict, detail = endpoint.Valid, ""
	}
	return endpoint.Answer{Verdict: verdict, Status: r.Status, Detail: detail}
}

// blamesModel reports that the endpoint took the key and only does not have the
// model. A path that does not exist is a not_found_error too.
func (r reply) blamesModel() bool {
	if r.Status != http.StatusBadRequest && r.Status != http.StatusNotFound {
		return false
	}
	said := strings.ToLower(endpoint.Said(r.Body))
	return strings.Contains(said, "model") || strings.Contains(said, commonModel)
}

func (r reply) words() string {
	return endpoint.Words(r.Status, http.StatusText(r.Status), endpoint.Said(r.Body))
}

// reason is why no reply came.
func reason(cause, err error, limit time.Duration) string {
	switch {
	case errors.Is(cause, errPatience):
		return fmt.Sprintf("no answer within %s", limit)
	case cause != nil:
		return "interrupted before an answer came"
	}
	text := strings.TrimPrefix(exchange.WithoutURL(err).Error(), "net/http: HTTP/1.x transport connection broken: ")
	if strings.Contains(text, "malformed") { // it quotes what came, whatever that was
		text, _, _ = strings.Cut(text, ` "`)
	}
	return text
}
