package people

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
)

func TestLabel(t *testing.T) {
	for address, want := range map[string]string{
		"ntfy://user:secret@ntfy.sh/topic":             "ntfy://ntfy.sh",
		"ntfy://127.0.0.1:8080/topic":                  "ntfy://127.0.0.1:8080",
		"generic+https://example.org/hook?token=x":     "generic://example.org",
		"slack://hook:T0-B0-secret@webhook":            "slack",
		"pushbullet://o.secretsecretsecretsecretsecre": "pushbullet",
		"wecom://secret":                               "wecom",
		"telegram://1:secret@telegram?chats=@a":        "telegram",
		"NTFY://ntfy.sh/topic":                         "ntfy://ntfy.sh",
		"ntfy://%zz/topic":                             "ntfy",
		"gotify://example.org/Asecret":                 "gotify://example.org",
		"smtp://me:secret@mail.example.org:587/?to=a":  "smtp://mail.example.org:587",
	} {
		if got := label(address); got != want {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
}

func TestScrub(t *testing.T) {
	const slack = "slack://hook:T00000001-B00000002-abcdefghijklmnopqrstuvwx@webhook?color=good"
	for _, tt := range []struct{ name, address, text, want string }{
		{"nothing to hide", slack, "no such host", "no such host"},
		{"the whole URL", slack, `sending message via service at "` + slack + `": no`, `sending message via service at "…": no`},
		{"another form", slack, `Post "https://hooks.slack.com/services/T00000001/B00000002/abcdefghijklmnopqrstuvwx": EOF`, `Post "…": EOF`},
		{"a piece", slack, "invalid token T00000001:B00000002", "invalid token …:…"},
		{"other letters", slack, "ABCDEFGHIJKLMNOPQRSTUVWX?", "…?"},
		{"the host is public", "ntfy://me:secret@ntfy.sh/topic", "lookup ntfy.sh: no such host", "lookup ntfy.sh: no such host"},
		{"the topic is not", "ntfy://me:secret@ntfy.sh/topic", "topic 'topic' is reserved for me:secret", "… '…' is reserved for me:…"},
		{"a token for a host", "wecom://key-of-mine-1234", "errcode 93000 for key-of-mine-1234", "errcode 93000 for …"},
		{"escaped", "ntfy://me:a%2Fbcde@h/t", `parse: invalid "a/bcde" or a%2Fbcde`, `parse: invalid "…" or …`},
		{"query", "googlechat://chat.googleapis.com/v1/spaces/FOO1/messages?key=barbar&token=bazbaz", "status 400 key=barbar token=bazbaz spaces/FOO1", "status 400 key=… token=… …/…"},
		{"headers of generic", "generic://h.example/p?@Authorization=Bearer+abcdef", "bad header Bearer abcdef", "bad header …"},
		{"no URL at all", "ntfy:x", "missing", "missing"},
		{"a broken one", "ntfy://%zz/secret", `parse "ntfy://%zz/secret": invalid URL escape "%zz"`, `parse "…": invalid URL escape "%zz"`},
		{"lines and escapes", slack, "a\nb\x1b[31mT0000\x1b[0m0001", "a b…"},
		{"long", slack, strings.Repeat("x", 1000), strings.Repeat("x", 299) + "…"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := scrub(tt.text, tt.address); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// Nothing is left of an error but its text: a formatter would go through its fields.
func TestScrubbedErrorIsText(t *testing.T) {
	inner := &url.Error{Op: "Post", URL: "https://h/secret-token", Err: errors.New("refused")}
	err := scrubbed(fmt.Errorf("sending: %w", inner), "slack://secret-token@h")
	if text := fmt.Sprintf("%v %#v", err, err); strings.Contains(text, "secret") || errors.Unwrap(err) != nil {
		t.Error(text)
	}
	if scrubbed(nil, "x") != nil {
		t.Error("no error became one")
	}
}

// FuzzScrub: whatever a service writes about a token, the token is not in what people see.
func FuzzScrub(f *testing.F) {
	f.Add("T0000-B0000-xyz", `Post "https://h/%s": refused`)
	f.Add("a b/c%20d", "%s")
	f.Add("o.abcdefgh", "no\x1b[0m %s \n")
	f.Add("ſecret", "%s")
	f.Fuzz(func(t *testing.T, token, text string) {
		if len(token) < shortest || strings.Contains(text, "…") || strings.Contains(token, "…") {
			return
		}
		for _, address := range []string{
			"slack://hook:" + url.PathEscape(token) + "@webhook",
			"ntfy://ntfy.sh/" + url.PathEscape(token),
			"generic://h.example/?token=" + url.QueryEscape(token),
		} {
			for _, written := range []string{token, url.PathEscape(token), url.QueryEscape(token)} {
				got := scrub(strings.ReplaceAll(text, "%s", written), address)
				if strings.Contains(got, token) && !public(token) {
					t.Errorf("%q of %q is in %q", token, address, got)
				}
			}
		}
	})
}

// public reports whether a token says nothing: it is a word that is in every URL.
func public(token string) bool {
	return strings.Contains("http https json ntfy ntfy.sh slack generic generic://h.example ntfy://ntfy.sh", strings.ToLower(token))
}
