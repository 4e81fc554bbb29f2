package probe

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	"github.com/stopgate/stopgate/internal/control/exchange"
	"github.com/stopgate/stopgate/internal/harness/endpoint"
)

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
	r, err := exchange.Do(request, func(status int) bool { return !exchange.OK(status) })
	return reply{r}, err
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
