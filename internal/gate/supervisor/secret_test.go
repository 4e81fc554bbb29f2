package supervisor

import (
	"bytes"
	"strings"
	"testing"
)

func TestWhichVariablesAreSecret(t *testing.T) {
	secret := []string{
		"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN",
		"AWS_BEARER_TOKEN_BEDROCK", "OPENAI_APIKEY", "GITHUB_TOKEN", "GH_TOKEN", "API_KEY_2", "API_KEYS", "CLIENT_SECRET",
		"SECRET_KEY_BASE", "APP_SECRETS", "PGPASSWORD", "DB_PASSWORD", "ROOT_PASSWD", "SMTP_PASS", "MYSQL_PWD",
		"SSH_PASSPHRASE", "TF_CREDENTIALS", "DOCKER_AUTH_CONFIG", "HTTP_AUTHORIZATION", "BASIC_AUTH", "KEY", "TOKEN",
		"npm_config__auth", "npm_config_//registry.example/:_authToken", "PRIVATE_KEY_BASE64", "PASS", "AWS_ACCESS_KEY_ID",
	}
	open := []string{
		"PATH", "HOME", "PWD", "OLDPWD", "LANG", "KEYBOARD_LAYOUT", "GNOME_KEYRING_CONTROL", "SSH_AUTH_SOCK", "XAUTHORITY",
		"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE", "SSH_ASKPASS", "GIT_ASKPASS", "API_KEY_FILE", "TOKEN_PATH",
		"SECRET_DIR", "PASSWORD_FILE", "AWS_WEB_IDENTITY_TOKEN_FILE", "GOOGLE_APPLICATION_CREDENTIALS", "MAX_THINKING_TOKENS",
		"CLAUDE_CODE_MAX_OUTPUT_TOKENS", "TOKENIZERS_PARALLELISM", "AUTH_URL", "AUTH_METHOD", "GIT_CREDENTIAL_HELPER",
		"CLAUDE_CODE_API_KEY_HELPER_TTL_MS", "ANTHROPIC_MODEL", "ANTHROPIC_BASE_URL", "",
	}
	const value = "the-value-of-it"
	for _, name := range secret {
		if got := secretsOf([]string{name + "=" + value}).HideString(value); got != hidden {
			t.Errorf("%s is shown", name)
		}
	}
	for _, name := range open {
		if got := secretsOf([]string{name + "=" + value}).HideString(value); got != value {
			t.Errorf("%s is hidden", name)
		}
	}
}

func TestHide(t *testing.T) {
	tests := map[string]struct {
		environ    []string
		text, want string
	}{
		"every place":       {[]string{"A_KEY=sk-12345678"}, "sk-12345678 sk-12345678, sk-1234567", "[hidden] [hidden], sk-1234567"},
		"side by side":      {[]string{"A_KEY=sk-12345678"}, "sk-12345678sk-12345678", "[hidden][hidden]"},
		"short":             {[]string{"A_KEY=1234567"}, "1234567", "1234567"},
		"just long enough":  {[]string{"A_KEY=12345678"}, "12345678", "[hidden]"},
		"empty":             {[]string{"A_KEY=", "B_KEY", "=C_KEY"}, "A_KEY", "A_KEY"},
		"spaces around":     {[]string{"A_KEY= 12345678\n"}, "<12345678>", "<[hidden]>"},
		"equals in it":      {[]string{"A_KEY=abc=def=ghi="}, "abc=def=ghi=", "[hidden]"},
		"the longest":       {[]string{"A_KEY=12345678", "B_KEY=1234567890"}, "1234567890 12345678", "[hidden] [hidden]"},
		"one in another":    {[]string{"A_KEY=12345678", "B_KEY=ab12345678cdefgh"}, "ab12345678cdefgh", "[hidden]"},
		"overlapping":       {[]string{"A_KEY=abcdefghij", "B_KEY=ghijklmnop"}, "<abcdefghijklmnop>", "<[hidden]>"},
		"overlapping self":  {[]string{"A_KEY=abcabcabc"}, "<abcabcabcabcabc>", "<[hidden]>"},
		"JSON":              {[]string{`A_KEY=a"b\c<d>é` + "\n" + `e`}, `{"x":"a\"b\\c<d>é\ne"}`, `{"x":"[hidden]"}`},
		"JSON of Go":        {[]string{`A_KEY=abcdef<g>&`}, `{"x":"abcdef\u003cg\u003e\u0026"}`, `{"x":"[hidden]"}`},
		"bearer":            {[]string{"MY_AUTH=Bearer abcdefgh"}, "token abcdefgh", "token [hidden]"},
		"other schemes":     {[]string{"MY_AUTH=Basic abcdefgh", "MY_TOKEN=token 12345678"}, "abcdefgh 12345678", "[hidden] [hidden]"},
		"headers":           {[]string{"ANTHROPIC_CUSTOM_HEADERS=X-Key: abcdefgh\nAuthorization: bearer 123:45678\r\nX-Short: a\nnone"}, "X-Key: abcdefgh bearer 123:45678 none", "X-Key: [hidden] bearer [hidden] none"},
		"lower-case header": {[]string{"anthropic_custom_headers=X-Key:abcdefgh"}, "abcdefgh", "[hidden]"},
		"like the cover":    {[]string{"A_KEY=[hidden]"}, "[hidden]", "[hidden]"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := secretsOf(tt.environ)
			text := []byte(tt.text)
			if got := string(s.Hide(text)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if got := s.HideString(tt.text); got != tt.want {
				t.Errorf("of the string got %q, want %q", got, tt.want)
			}
			if string(text) != tt.text {
				t.Errorf("the text itself became %q", text)
			}
		})
	}
}

func TestHidingNothingCostsNothing(t *testing.T) {
	s := secretsOf([]string{"A_KEY=" + strings.Repeat("abc", 30), `B_TOKEN=12"345678`})
	line, text := bytes.Repeat([]byte("nothing here. "), 1000), strings.Repeat("nothing here. ", 1000)
	if n := testing.AllocsPerRun(10, func() { s.Hide(line); s.HideString(text) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// Many overlapping places are one, not a list of millions.
func TestHideAWallOfOneLetter(t *testing.T) {
	s := secretsOf([]string{"A_KEY=aaaaaaaaaa"})
	wall := strings.Repeat("a", 1_000_000)
	if got := s.HideString(wall); got != hidden {
		t.Errorf("got %d bytes", len(got))
	}
	if spans := s.values[0].find([]byte(wall), nil); len(spans) != 1 {
		t.Errorf("%d places", len(spans))
	}
}

func FuzzHide(f *testing.F) {
	f.Add("abcdefgh", "12345678", "abcdefgh12345678")
	f.Add("abcdefgh", "efghijkl", "abcdefghijkl")
	f.Add("aaaaaaaa", "aaaaaaaaaa", "aaaaaaaaaaaaaaa")
	f.Add("a\"\\\n\x00\xff<>", "        ", "a\"\\\n\x00\xff<>")
	f.Fuzz(func(t *testing.T, a, b, text string) {
		s := secretsOf([]string{"A_KEY=" + a, "B_KEY=" + b})
		got := s.HideString(text)
		if other := string(s.Hide([]byte(text))); other != got {
			t.Errorf("the string %q, the bytes %q", got, other)
		}
		// What is left between two covers holds no secret; across them one may
		// come about.
		for part := range strings.SplitSeq(got, hidden) {
			for _, v := range s.values {
				if strings.Contains(part, v.text) {
					t.Errorf("%q of %q is left in %q", v.text, text, part)
				}
			}
		}
	})
}
