package supervisor

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/plain"
	"github.com/stopgate/stopgate/internal/sys/rawjson"
)

const (
	hidden = "[hidden]"
	// minSecret is the shortest value that is hidden, in bytes. Shorter ones are
	// words of any text.
	minSecret = 8
	// minKey is that of Claude Code's own key and token, which are nothing else.
	minKey = 5
	// headersVariable holds lines of "Name: value" for Claude Code's requests.
	headersVariable = "ANTHROPIC_CUSTOM_HEADERS"
)

// Secrets are the values that must not be written anywhere.
type Secrets struct{ values []secret }

// secret is one value, in both forms of text.
type secret struct {
	text  string
	bytes []byte
}

// secretsOf are the secrets of an environment: the values of the variables whose
// names say that they are, and the passwords in addresses.
func secretsOf(environ []string) Secrets {
	var s Secrets
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		switch name = strings.ToUpper(name); {
		case name == headersVariable:
			for line := range strings.Lines(value) {
				_, value, _ := strings.Cut(line, ":")
				s.add(value, minSecret)
			}
		case name == "ANTHROPIC_API_KEY" || name == "ANTHROPIC_AUTH_TOKEN":
			s.add(value, minKey)
		case isSecret(name):
			s.add(value, minSecret)
		default:
			s.add(password(value), minKey)
		}
	}
	return s
}

// password is the one in an address, scheme://user:password@host.
func password(value string) string {
	_, rest, _ := strings.Cut(value, "://")
	authority, _, _ := strings.Cut(rest, "/")
	user, _, found := plain.CutLast(authority, "@")
	_, password, _ := strings.Cut(user, ":")
	if !found {
		return ""
	}
	return password
}

// isSecret reports whether a variable of that name, in upper case, holds a
// secret. To hide too much does less harm than too little.
func isSecret(name string) bool {
	switch name {
	case "PWD", "GOOGLE_APPLICATION_CREDENTIALS": // paths
		return false
	}
	words := strings.Split(name, "_")
	if describes(words[len(words)-1]) {
		return false
	}
	return slices.ContainsFunc(words, namesSecret) || strings.Contains(name, "SECRET") || aboutAuth(name)
}

// namesSecret reports whether a word of a name says what the value is: KEY, and
// APIKEY, but not KEYBOARD. TOKENS are counted far more often than kept.
func namesSecret(word string) bool {
	if word == "PASS" || word == "PWD" {
		return true
	}
	return slices.ContainsFunc([]string{
		"KEY", "KEYS", "TOKEN", "PASSWORD", "PASSWORDS", "PASSWD", "PASSPHRASE", "CRED", "CREDS", "CREDENTIAL", "CREDENTIALS", "BEARER", "COOKIE",
	}, func(suffix string) bool { return strings.HasSuffix(word, suffix) })
}

// describes reports whether a variable whose name ends in the word says something
// about a secret: where it is, whose it is, how it is used.
func describes(word string) bool {
	return slices.Contains([]string{
		"FILE", "PATH", "DIR", "SOCK", "SOCKET", "URL", "URI", "HOST", "PORT", "NAME", "USER", "EMAIL",
		"HELPER", "TYPE", "METHOD", "MODE", "PROVIDER", "ENABLED", "TIMEOUT", "MS",
	}, word)
}

// aboutAuth finds AUTH, and does not take GIT_AUTHOR_DATE or XAUTHORITY for it.
func aboutAuth(name string) bool {
	return strings.Contains(strings.ReplaceAll(name, "AUTHOR", ""), "AUTH") || strings.Contains(name, "AUTHORIZ")
}

// add adds a value, as it is and as JSON has it. Of "Bearer x" it is x that is
// secret.
func (s *Secrets) add(value string, least int) {
	value = strings.TrimSpace(value)
	if scheme, rest, found := strings.Cut(value, " "); found && isScheme(scheme) {
		value = strings.TrimSpace(rest)
	}
	if len(value) < least {
		return
	}
	s.addForm(value)
	if text, err := rawjson.Marshal(value); err == nil {
		s.addForm(string(text[1 : len(text)-1]))
	}
	if text, err := json.Marshal(value); err == nil { // with < and > escaped
		s.addForm(string(text[1 : len(text)-1]))
	}
}

func isScheme(word string) bool {
	return slices.ContainsFunc([]string{"Bearer", "Basic", "Token"}, func(scheme string) bool {
		return strings.EqualFold(scheme, word)
	})
}

func (s *Secrets) addForm(text string) {
	if !slices.ContainsFunc(s.values, func(v secret) bool { return v.text == text }) {
		s.values = append(s.values, secret{text, []byte(text)})
	}
}

// Hide is the text with [hidden] for each secret; the text itself where it has
// none. It sees only whole values, so a text must not be cut into parts before.
func (s Secrets) Hide(text []byte) []byte {
	var spans []span
	for _, value := range s.values {
		spans = value.find(text, spans)
	}
	if len(spans) == 0 {
		return text
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	out := make([]byte, 0, len(text))
	end := 0
	for i, at := range spans {
		// Where secrets overlap, nothing of either may stay.
		if i == 0 || at.from >= end {
			out = append(append(out, text[end:at.from]...), hidden...)
		}
		end = max(end, at.to)
	}
	return append(out, text[end:]...)
}

// HideString is Hide for strings.
func (s Secrets) HideString(text string) string {
	if !slices.ContainsFunc(s.values, func(v secret) bool { return strings.Contains(text, v.text) }) {
		return text
	}
	return string(s.Hide([]byte(text)))
}

// span is a part of a text.
type span struct{ from, to int }

// find adds where the value is in the text. Places that overlap become one.
func (v secret) find(text []byte, spans []span) []span {
	first := len(spans)
	for at := 0; ; at++ {
		i := bytes.Index(text[at:], v.bytes)
		if i < 0 {
			return spans
		}
		at += i
		if last := len(spans) - 1; last >= first && at < spans[last].to {
			spans[last].to = at + len(v.bytes)
			continue
		}
		spans = append(spans, span{at, at + len(v.bytes)})
	}
}
