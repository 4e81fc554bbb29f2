package people

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// ntfy opens the page, and shows a button for each of the first answers. What the address itself says stays.
func TestIssue18ButtonsOfNtfy(t *testing.T) {
	answers := []Answer{{"publish", "https://h/act/1"}, {"a, b", "https://h/act/2"}, {"stop", "https://h/act/3"}, {"later", "https://h/act/4"}, {"never", "https://h/act/5"}}
	for query, want := range map[string][2]string{
		"":                                      {"https://h/inbox/d", "http, publish, https://h/act/1, method=POST, clear=true;http, stop, https://h/act/3, method=POST, clear=true;http, later, https://h/act/4, method=POST, clear=true"},
		"&click=https://own/x":                  {"https://own/x", "http, publish, https://h/act/1, method=POST, clear=true;http, stop, https://h/act/3, method=POST, clear=true;http, later, https://h/act/4, method=POST, clear=true"},
		"&actions=view,%20Own,%20https://own/y": {"https://h/inbox/d", "view, Own, https://own/y"},
	} {
		var got [2]string
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			got = [2]string{r.Header.Get("Click"), r.Header.Get("Actions")}
			_, _ = w.Write([]byte("{}"))
		}))
		address := "ntfy://" + strings.TrimPrefix(server.URL, "http://") + "/topic?scheme=http" + query
		check(t, give(address, Message{Title: "t", Text: "x", Decision: "d", Link: "https://h/inbox/d", Answers: answers}))
		server.Close()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", query, diff)
		}
	}
}
