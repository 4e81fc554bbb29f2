// Package endpoint says what it takes to ask a provider whether it would serve us,
// and what came of it: what stopgate and stopgated tell each other. It asks nobody
// itself, since net/http would cost every hook call at its start.
package endpoint

import (
	"cmp"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// Default is the endpoint of a client that was told none.
const Default = "https://api.anthropic.com"

// Target is what a client would know of its provider. It holds secrets: it goes
// through pipes, and never into an argument, a log or a message.
type Target struct {
	Name      string `json:"name"`
	BaseURL   string `json:"base_url,omitempty"` // empty: Default
	AuthToken string `json:"auth_token,omitempty"`
	APIKey    string `json:"api_key,omitempty"`
	Model     string `json:"model,omitempty"` // empty: any that the provider has
}

// Verdict is what a provider made of us.
type Verdict string

// The verdicts. Unreachable says nothing about the key: nobody looked at it. Login
// is that of a provider with nothing to look at.
const (
	Valid       Verdict = "valid"
	Rejected    Verdict = "rejected"
	Unreachable Verdict = "unreachable"
	Login       Verdict = "login"
)

// Answer is what came of asking a target. Nothing in it is secret.
type Answer struct {
	Name         string  `json:"name"`
	Verdict      Verdict `json:"verdict"`
	Status       int     `json:"status,omitempty"` // of HTTP; 0 where no answer came
	Detail       string  `json:"detail,omitempty"`
	Milliseconds int64   `json:"milliseconds"`
}

// TargetOf is the target of a client with that environment.
func TargetOf(name string, env []string) Target {
	return Target{
		Name:      name,
		BaseURL:   environ.Get(env, "ANTHROPIC_BASE_URL"),
		AuthToken: environ.Get(env, "ANTHROPIC_AUTH_TOKEN"),
		APIKey:    environ.Get(env, "ANTHROPIC_API_KEY"),
		Model:     modelOf(env),
	}
}

// modelOf is the name that Claude Code would send. It has words of its own for
// models, which no provider knows, and a mark for a long context, which it keeps to
// itself.
func modelOf(env []string) string {
	model := strings.TrimSuffix(environ.Get(env, "ANTHROPIC_MODEL"), "[1m]")
	switch strings.ToLower(model) {
	case "opus", "opusplan":
		model = environ.Get(env, "ANTHROPIC_DEFAULT_OPUS_MODEL")
	case "sonnet":
		model = environ.Get(env, "ANTHROPIC_DEFAULT_SONNET_MODEL")
	case "haiku":
		model = environ.Get(env, "ANTHROPIC_DEFAULT_HAIKU_MODEL")
	case "default", "best":
		return ""
	}
	return strings.TrimSuffix(model, "[1m]")
}

// UsesLogin reports whether Claude Code is left to its own login.
func (t Target) UsesLogin() bool { return t.BaseURL == "" && t.AuthToken == "" && t.APIKey == "" }

// Fault is why it would be no use to ask, or worse than that; nil if it is not.
func (t Target) Fault() error {
	if _, err := t.base(); err != nil {
		return err
	}
	if t.AuthToken == "" && t.APIKey == "" {
		return errors.New("no ANTHROPIC_AUTH_TOKEN or ANTHROPIC_API_KEY")
	}
	if !fitsHeader(t.AuthToken) {
		return errors.New("ANTHROPIC_AUTH_TOKEN contains a control character or invalid UTF-8")
	}
	if !fitsHeader(t.APIKey) {
		return errors.New("ANTHROPIC_API_KEY contains a control character or invalid UTF-8")
	}
	return nil
}

func fitsHeader(value string) bool {
	return utf8.ValidString(value) && !strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

// base is the URL of the endpoint. Its errors never quote it: it may hold a
// password.
func (t Target) base() (*url.URL, error) {
	u, err := url.Parse(cmp.Or(t.BaseURL, Default))
	switch {
	case err != nil:
		return nil, errors.New("ANTHROPIC_BASE_URL is not a URL")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("ANTHROPIC_BASE_URL must begin with http:// or https://")
	case u.Hostname() == "":
		return nil, errors.New("ANTHROPIC_BASE_URL has no host")
	}
	return u, nil
}

// URL is where Claude Code would send a request for that path: it puts the two
// together as text.
func (t Target) URL(path string) string {
	return strings.TrimSuffix(cmp.Or(t.BaseURL, Default), "/") + path
}

// Endpoint is where the target is, for people to see; empty where the base URL is
// none. The rest of an address may hold a key.
func (t Target) Endpoint() string {
	u, err := t.base()
	if err != nil {
		return ""
	}
	return t.Line(u.Scheme + "://" + u.Host)
}

// longest is how many characters are shown of what a provider says.
const longest = 200

// Line makes one short plain line of a text that somebody else wrote, with none of
// the target's secrets in it.
func (t Target) Line(text string) string {
	hide := t.hider()
	// Once more after the control characters are gone: they may have stood within.
	return plain.Fit(hide.Replace(plain.Line(hide.Replace(text))), longest)
}

// hider replaces the secrets, also where they come back quoted or escaped.
func (t Target) hider() *strings.Replacer {
	secrets := []string{t.AuthToken, t.APIKey}
	if u, err := t.base(); err == nil {
		password, _ := u.User.Password()
		secrets = append(secrets, password)
	}
	var forms []string
	for _, secret := range secrets {
		quoted := strconv.Quote(secret)
		forms = append(forms, secret, strings.TrimSpace(secret), quoted[1:len(quoted)-1], url.QueryEscape(secret), url.PathEscape(secret))
	}
	// The longest first: one secret may begin with another.
	slices.SortFunc(forms, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	var pairs []string
	for _, form := range slices.Compact(forms) {
		if form != "" {
			pairs = append(pairs, form, "[…]")
		}
	}
	return strings.NewReplacer(pairs...)
}
