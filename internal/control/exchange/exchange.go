// Package exchange sends one HTTP request to a server that is not ours. It keeps nothing for the
// next one, and follows no redirect: keys and letters must not travel to whatever is named there.
package exchange

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
)

// maxBody is how much of an answer is read: an error message stands in the first lines of it.
const maxBody = 64 << 10

// Reply is what came back.
type Reply struct {
	Status   int
	Header   http.Header
	Location string // the host that it redirects to
	Body     []byte // the first of it; none where that was not wanted
}

// Do sends a request. Where the caller does not want the body of a status, that is not waited
// for.
func Do(request *http.Request, wants func(status int) bool) (Reply, error) {
	client := &http.Client{
		Transport: &http.Transport{
			Proxy:                  http.ProxyFromEnvironment, // which asks no proxy for this machine itself
			DisableKeepAlives:      true,
			ForceAttemptHTTP2:      true,
			MaxResponseHeaderBytes: maxBody,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	response, err := client.Do(request)
	if err != nil {
		return Reply{}, err
	}
	defer response.Body.Close()

	r := Reply{Status: response.StatusCode, Header: response.Header}
	if location, err := response.Location(); err == nil {
		r.Location = location.Host
	}
	if wants(r.Status) {
		// What cannot be read of it says nothing: the status has said it.
		r.Body, _ = io.ReadAll(io.LimitReader(response.Body, maxBody))
	}
	return r, nil
}

// OK reports whether the status is one of success.
func (r Reply) OK() bool { return OK(r.Status) }

// OK reports whether a status is one of success.
func OK(status int) bool { return status >= 200 && status < 300 }

// MediaType is what the body is said to be.
func (r Reply) MediaType() string {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return kind
}

// IsWebPage reports whether the body is a page for people: many servers show one at every
// address that they do not know.
func (r Reply) IsWebPage() bool { return r.MediaType() == "text/html" }

// WithoutURL is an error of Do without the URL, which may hold a secret.
func WithoutURL(err error) error {
	if request, ok := errors.AsType[*url.Error](err); ok {
		return request.Err
	}
	return err
}
