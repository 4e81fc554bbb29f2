package registry

import (
	"net/url"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/stopgate/stopgate/internal/sys/jsonfile"
)

// What a gateway is where the file does not say.
const (
	defaultURL      = "http://127.0.0.1:18789"
	defaultTokenEnv = "OPENCLAW_GATEWAY_TOKEN"
	defaultEndpoint = "agent"
)

// gateway reads the way to an agent. With a fault it is none: what is to be sent then
// waits for a person instead of going elsewhere.
func (r *reader) gateway(v *hujson.Value) (Gateway, *hujson.Object) {
	g := Gateway{Transport: ViaOpenClaw}
	o, ok := jsonfile.ObjectOf(v)
	switch {
	case v == nil:
		g.fill()
		return g, nil
	case !ok:
		r.fault(v, "gateway", jsonfile.MustBe("an object", v), "")
		return Gateway{}, nil
	}
	before := r.Count
	members := r.gatewayMembers(&g)
	r.read(o, "gateway.", members)
	r.gatewayNeeds(o, v, &g)
	if r.Count > before {
		g = Gateway{}
	}
	r.slips(o, "gateway.", names(members), nil)
	g.fill()
	return g, o
}

func (r *reader) gatewayMembers(g *Gateway) []member {
	return []member{
		{"transport", nil, into(&g.Transport, r.choice(&g.Transport, transports()...))},
		{"program", []string{ViaOpenClaw}, into(&g.Program, r.text)},
		{"message_file", []string{ViaOpenClaw}, into(&g.MessageFile, r.boolean)},
		{"url", []string{ViaOpenClawHTTP, ViaWebhook}, into(&g.URL, r.address)},
		{"endpoint", []string{ViaOpenClawHTTP}, into(&g.Endpoint, r.choice(&g.Endpoint, "agent", "wake"))},
		{"session_key", []string{ViaOpenClawHTTP}, into(&g.SessionKey, r.text)},
		{"token_env", []string{ViaOpenClawHTTP}, into(&g.TokenEnv, r.variable)},
		{"token_file", []string{ViaOpenClawHTTP}, into(&g.TokenFile, r.text)},
		{"secret_env", []string{ViaWebhook}, into(&g.SecretEnv, r.variable)},
		{"secret_file", []string{ViaWebhook}, into(&g.SecretFile, r.text)},
		{"command", []string{ViaCommand}, into(&g.Command, r.arguments)},
		{"session", []string{ViaSession}, into(&g.Session, r.word)},
	}
}

// choice reads one of these words; null leaves what is there.
func (r *reader) choice(now *string, words ...string) func(*hujson.Value, string) string {
	return func(v *hujson.Value, path string) string {
		if jsonfile.KindOf(v) == 'n' {
			return *now
		}
		return r.oneOf(v, path, words...)
	}
}

// gatewayNeeds wants what the transport cannot do without.
func (r *reader) gatewayNeeds(o *hujson.Object, v *hujson.Value, g *Gateway) {
	name, text := "", ""
	switch g.Transport {
	case ViaWebhook:
		name, text = "url", g.URL
	case ViaCommand:
		name, text = "command", strings.Join(g.Command, " ")
	case ViaSession:
		name, text = "session", g.Session
	}
	if name != "" {
		r.need(v, "gateway."+name, text, jsonfile.Member(o, name), "the transport "+g.Transport+" needs it")
	}
	for _, pair := range [][2]string{{"token_env", "token_file"}, {"secret_env", "secret_file"}} {
		if second := jsonfile.Member(o, pair[1]); second != nil && jsonfile.Member(o, pair[0]) != nil {
			r.fault(second, "gateway."+pair[1], "cannot be combined with "+pair[0], "")
		}
	}
}

func (g *Gateway) fill() {
	switch g.Transport {
	case ViaOpenClaw:
		if g.Program == "" {
			g.Program = "openclaw"
		}
	case ViaOpenClawHTTP:
		if g.URL == "" {
			g.URL = defaultURL
		}
		if g.Endpoint == "" {
			g.Endpoint = defaultEndpoint
		}
		if g.TokenEnv == "" && g.TokenFile == "" {
			g.TokenEnv = defaultTokenEnv
		}
	}
}

// address wants a URL of the web without a password: that would be a secret.
func (r *reader) address(v *hujson.Value, path string) string {
	text := r.text(v, path)
	if text == "" {
		return ""
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		r.fault(v, path, "must be a URL that begins with http:// or https://", "")
	case u.User != nil:
		r.fault(v, path, "must not contain a user and a password, which others can read here", "")
	}
	return text
}

func (r *reader) variable(v *hujson.Value, path string) string {
	text := r.text(v, path)
	if strings.Contains(text, "=") || strings.HasPrefix(text, "$") {
		r.fault(v, path, "must be the name of a variable", "")
	}
	return text
}

func (r *reader) arguments(v *hujson.Value, path string) []string {
	args := r.texts(v, path)
	switch {
	case len(args) == 0 && jsonfile.KindOf(v) == '[' || len(args) > 0 && args[0] == "":
		r.fault(v, path, "must begin with a program", "")
	case strings.ContainsRune(strings.Join(args, ""), 0):
		r.fault(v, path, "must not contain a NUL character", "")
	}
	return args
}
