package config

import (
	"strings"
	"testing"
)

func TestIsLoopback(t *testing.T) {
	for host, want := range map[string]bool{
		"127.0.0.1": true, "127.8.9.1:80": true, "[::1]": true, "[::1]:9464": true, "LocalHost": true, "localhost:1": true,
		"": false, "0.0.0.0": false, "[::]:80": false, "10.0.0.1": false, "[::1%lo]:80": false, "localhost.example": false, "127.0.0.1.example:80": false,
	} {
		if got := IsLoopback(host); got != want {
			t.Errorf("%q: %v", host, got)
		}
	}
}

// What comes after the host would be lost, or kept where it can be seen.
func TestEndpointIsABaseURL(t *testing.T) {
	for url, want := range map[string]string{
		"http://h:4318/": "", "https://h/base": "",
		"http://:4318": "is not a URL with a host", "http:h": "is not a URL with a host", "http://h /x": "is not a URL with a host",
		"grpc://h:4317": "the scheme must be http or https", "http://u@h": "must not contain a user or a password",
		"http://h?": "must not contain a query or a fragment", "http://h?a=b": "must not contain a query or a fragment", "http://h#a": "must not contain a query or a fragment",
	} {
		_, err := ParseGlobal("config.yml", []byte("traces: {endpoint: '"+url+"'}"))
		if (err == nil) != (want == "") || err != nil && !strings.HasSuffix(err.Error(), "endpoint: "+want) {
			t.Errorf("%s: got %v, want %q", url, err, want)
		}
	}
}

func TestNameOfAProjectOfTheFleet(t *testing.T) {
	f := Fleet{Projects: []FleetProject{{Name: "a", Path: "~/a"}, {Name: "b", Path: "/srv/b/"}}}
	for root, want := range map[string]string{"/home/me/a": "a", "/home/me/a/": "a", "/srv/b": "b", "/srv/b/../b": "b", "/srv": "", "~/a": ""} {
		if got := f.NameOf(root, "/home/me"); got != want {
			t.Errorf("%s: %q", root, got)
		}
	}
}
