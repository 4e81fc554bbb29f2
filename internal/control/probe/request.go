package probe

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"

	"github.com/stopgate/stopgate/internal/harness/endpoint"
)

// maxBody is how much of an answer is read: an error message stands in the first
// lines of it.
const maxBody = 64 << 10

func (p Prober) listModels(ctx context.Context, t endpoint.Target) (reply, error) {
	return p.send(ctx, t, http.MethodGet, "/v1/models", nil)
}

func (p Prober) askModel(ctx context.Context, t endpoint.Target, model string) (reply, error) {
	type message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	body, err := json.Marshal(struct {
		Model     string    `json:"model"`
		MaxTokens int       `json:"max_tokens"`
		Messages  []message `json:"messages"`
	}{model, 1, []message{{"user", "Hi"}}})
	if err != nil {
		return reply{}, err
	}
	return p.send(ctx, t, http.MethodPost, "/v1/messages", body)
}

func (p Prober) send(ctx context.Context, t endpoint.Target, method, path string, body []byte) (reply, error) {
	request, err := http.NewRequestWithContext(ctx, method, t.URL(path), bytes.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	p.setHeader(request.Header, t)
	client := &http.Client{
		Transport:     transport(),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // the key must not travel
	}
	response, err := client.Do(request)
	if err != nil {
		return reply{}, err
	}
	defer response.Body.Close()
	r := reply{status: response.StatusCode, header: response.Header}
	if location, err := response.Location(); err == nil {
		r.location = location.Host
	}
	if !r.ok() {
		// What cannot be read of it says nothing: the status has said it.
		r.body, _ = io.ReadAll(io.LimitReader(response.Body, maxBody))
	}
	return r, nil
}

func (p Prober) setHeader(h http.Header, t endpoint.Target) {
	if t.AuthToken != "" {
		h.Set("Authorization", "Bearer "+t.AuthToken)
	}
	if t.APIKey != "" {
		h.Set("X-Api-Key", t.APIKey)
	}
	h.Set("Anthropic-Version", "2023-06-01")
	h.Set("Content-Type", "application/json")
	h.Set("User-Agent", p.UserAgent)
}

// transport keeps nothing from one request to the next.
func transport() *http.Transport {
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DisableKeepAlives:      true,
		ForceAttemptHTTP2:      true,
		MaxResponseHeaderBytes: maxBody,
	}
}
