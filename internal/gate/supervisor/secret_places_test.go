package supervisor

import "testing"

func TestSecretsThatAreShortOrInAddresses(t *testing.T) {
	s := secretsOf([]string{
		"ANTHROPIC_AUTH_TOKEN=s3cr3", "ANTHROPIC_API_KEY=fake", "HTTPS_PROXY=http://me:hunter2@proxy:8080", "DATABASE_URL=postgres://u:p@ss/w0rd@db/x",
		"HOME_PAGE=https://example.com/a:b@c", "MY_CRED=credential-1", "SESSION_COOKIE=cookie-value", "REDIS_URL=redis://:pa@ssword@db",
	})
	for text, want := range map[string]string{
		"it is s3cr3":                   "it is [hidden]",
		"fake":                          "fake", // a word of any text
		"pa@ssword":                     "[hidden]",
		"http://me:hunter2@proxy":       "http://me:[hidden]@proxy",
		"credential-1 and cookie-value": "[hidden] and [hidden]",
		"https://example.com/a:b@c":     "https://example.com/a:b@c",
	} {
		if got := s.HideString(text); got != want {
			t.Errorf("%q: got %q", text, got)
		}
	}
}
