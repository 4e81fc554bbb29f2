package send

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/control/exchange"
	"github.com/stopgate/stopgate/internal/harness/endpoint"
	"github.com/stopgate/stopgate/internal/project/registry"
	"github.com/stopgate/stopgate/internal/session/wake"
	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/rawjson"
)

// maxHookBody is what OpenClaw takes as one request.
const maxHookBody = 256 << 10

// agentHook is the body of OpenClaw's /hooks/agent.
type agentHook struct {
	Message        string `json:"message"`
	Name           string `json:"name"`
	AgentID        string `json:"agentId"`
	SessionKey     string `json:"sessionKey,omitempty"`
	SessionMode    string `json:"sessionMode,omitempty"`
	WakeMode       string `json:"wakeMode"`
	Deliver        bool   `json:"deliver"` // to a person's chat, which is what it does unless told
	IdempotencyKey string `json:"idempotencyKey"`
}

// wakeHook is the body of OpenClaw's /hooks/wake.
type wakeHook struct {
	Text       string `json:"text"`
	Mode       string `json:"mode"`
	AgentID    string `json:"agentId,omitempty"`
	SessionKey string `json:"sessionKey,omitempty"`
}

// postOpenClaw sends the message to a hook of OpenClaw.
func (s Sender) postOpenClaw(ctx context.Context, a registry.OutsideAgent, l wake.Letter) (note string, err error) {
	token, err := s.secret(a.Gateway.TokenEnv, a.Gateway.TokenFile)
	if err != nil {
		return "", err
	}

	place := "/hooks/agent"
	body := func(message string) any {
		hook := agentHook{Message: message, Name: "stopgate", AgentID: a.AgentID, WakeMode: "now", IdempotencyKey: l.Key}
		if hook.SessionKey = a.Gateway.SessionKey; hook.SessionKey != "" {
			hook.SessionMode = "persistent"
		}
		return hook
	}
	if a.Gateway.Endpoint == "wake" {
		place = "/hooks/wake"
		body = func(message string) any {
			return wakeHook{Text: message, Mode: "now", AgentID: a.AgentID, SessionKey: a.Gateway.SessionKey}
		}
	}

	message, err := s.fit(l, maxHookBody, func(message string) int { return len(encode(body(message))) })
	if err != nil {
		return "", err
	}

	header := http.Header{}
	if token != "" {
		header.Set("Authorization", "Bearer "+token)
	}
	r, err := s.post(ctx, strings.TrimSuffix(a.Gateway.URL, "/")+place, l, header, encode(body(message)))
	switch {
	case err != nil:
		return "", err
	case r.Status != http.StatusOK && r.Status != http.StatusAccepted:
		return "", r.failure()
	case r.IsWebPage():
		return "", fixable("the gateway answered with a web page: check that its hooks are enabled and that the url is right")
	case r.saysNo():
		return "", passing("%s", r.words())
	}
	return r.words(), nil
}

// postWebhook sends the letter as it is.
func (s Sender) postWebhook(ctx context.Context, a registry.OutsideAgent, l wake.Letter) (note string, err error) {
	secret, err := s.secret(a.Gateway.SecretEnv, a.Gateway.SecretFile)
	if err != nil {
		return "", err
	}

	body := encode(l)
	timestamp := strconv.FormatInt(s.now().Unix(), 10)
	header := http.Header{"X-Stopgate-Timestamp": {timestamp}}
	if secret != "" {
		header.Set("X-Stopgate-Signature", sign(secret, timestamp, body))
	}

	r, err := s.post(ctx, a.Gateway.URL, l, header, body)
	switch {
	case err != nil:
		return "", err
	case !r.OK():
		return "", r.failure()
	}
	return r.words(), nil
}

// sign is the signature of a body sent at that time.
func sign(secret, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamp + "."))
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// encode is a value as JSON. Ours can all be encoded: what was read as JSON is JSON.
func encode(v any) []byte {
	text, _ := rawjson.Marshal(v)
	return text
}

// errSlow is the cause of a context that ended by our own limit.
var errSlow = errors.New("the gateway is slow")

// post sends a body under the letter's key.
func (s Sender) post(ctx context.Context, address string, l wake.Letter, header http.Header, body []byte) (reply, error) {
	if u, err := url.Parse(address); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return reply{}, fixable("the gateway's url must begin with http:// or https:// and name a host")
	}

	ctx, cancel := context.WithTimeoutCause(ctx, s.request, errSlow)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return reply{}, fixable("%v", err)
	}

	request.Header = header
	header.Set("Content-Type", "application/json")
	header.Set("Idempotency-Key", l.Key)
	header.Set("User-Agent", s.UserAgent)

	r, err := exchange.Do(request, func(int) bool { return true })
	if err != nil {
		return reply{}, s.noReply(context.Cause(ctx), err)
	}
	return reply{r, s.now()}, nil
}

// noReply is why no answer came.
func (s Sender) noReply(cause, err error) error {
	if errors.Is(cause, errSlow) {
		return passing("the gateway did not answer within %s", s.request)
	}
	return passing("cannot reach the gateway: %v", exchange.WithoutURL(err))
}

// reply is what came back.
type reply struct {
	exchange.Reply
	now time.Time
}

// failure is what a status other than success means. Whether another try can end
// otherwise depends on what is wrong: the letter, what a person has set up, or the
// moment.
func (r reply) failure() error {
	switch r.Status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return refused("%s", r.words())
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests:
		return &failure{reason: r.words(), after: r.retryAfter()}
	}
	switch {
	case r.Status >= 500:
		return &failure{reason: r.words(), after: r.retryAfter()}
	case r.Status < 400 && r.Location != "":
		return fixable("the gateway redirects to %s; redirects are not followed", r.Location)
	}
	return fixable("%s", r.words())
}

// retryAfter is how long the gateway wants to be left alone.
func (r reply) retryAfter() time.Duration {
	text := r.Header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if t, err := http.ParseTime(text); err == nil {
		return max(t.Sub(r.now), 0)
	}
	return 0
}

// saysNo reports that the body takes back what the status says.
func (r reply) saysNo() bool {
	var body struct {
		OK *bool `json:"ok"`
	}
	return json.Unmarshal(r.Body, &body) == nil && body.OK != nil && !*body.OK
}

// words is what the reply says: OpenClaw answers in JSON or in plain text.
func (r reply) words() string {
	said := endpoint.Said(r.Body)
	if r.MediaType() == "text/plain" && r.Status >= 300 {
		said = string(r.Body)
	}
	return endpoint.Words(r.Status, http.StatusText(r.Status), said)
}

// secrets is a gateway with what must not be shown of it.
func (s Sender) secrets(a registry.OutsideAgent) endpoint.Target {
	g := a.Gateway
	t := endpoint.Target{BaseURL: g.URL}
	switch g.Transport {
	case registry.ViaOpenClawHTTP:
		t.AuthToken, _ = s.secret(g.TokenEnv, g.TokenFile)
	case registry.ViaWebhook:
		t.AuthToken, _ = s.secret(g.SecretEnv, g.SecretFile)
	default:
		t.AuthToken, t.APIKey = environ.Get(s.Environ, "OPENCLAW_GATEWAY_TOKEN"), environ.Get(s.Environ, "OPENCLAW_GATEWAY_PASSWORD")
	}
	return t
}
