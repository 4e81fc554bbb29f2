package config

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"github.com/stopgate/stopgate/internal/project/document"
)

// Metrics is where the daemon serves its metrics besides its socket.
type Metrics struct {
	Listen string // host and port, on this machine only; empty for nowhere else
}

// Traces is where the daemon sends a trace of each stop.
type Traces struct {
	Endpoint string // the base URL of an OTLP receiver; empty for none
	Headers  []Header
}

// Header is an HTTP header whose value is a secret: the configuration says where it is.
type Header struct {
	Name string
	Env  string // the variable that holds the value, in the daemon's environment
	File string // or the file, absolute or beginning with ~/, that only its owner can read
}

func (m *Metrics) fields() []field {
	return []field{
		document.Key("listen", &m.Listen, loopbackAddress(), "Where the daemon also serves /metrics over HTTP, such as 127.0.0.1:9464. Every user of this machine can read it there."),
	}
}

func (t *Traces) fields() []field {
	return []field{
		document.Key("endpoint", &t.Endpoint, endpoint(), "An OTLP receiver over HTTP, such as http://127.0.0.1:4318.").Needed(),
		document.Key("headers", &t.Headers, listOf(header()), "HTTP headers for it, such as Authorization."),
	}
}

func (h *Header) fields() []field {
	return []field{
		document.Key("name", &h.Name, unquoted(matching("^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$", "is not the name of an HTTP header", "")), "").Needed(),
		document.Key("env", &h.Env, unquoted(matching("^[A-Za-z_][A-Za-z0-9_]*$", "is not the name of an environment variable", "write the name here, not the value")), "The environment variable of the daemon that holds the value."),
		document.Key("file", &h.File, unquoted(anywhere()), "The file that holds the value: absolute, or beginning with ~/. Only you may be able to read it."),
	}
}

// unquoted reads a text that may hold a secret by mistake: what is wrong with it is said without a word of
// it, and a number is a text.
func unquoted(t typeOf[string]) typeOf[string] {
	return document.New(func(v value, to *string) bool {
		n := v.Node.(node)
		v.Node = node{n.d, asText(n.ast)}
		return t.Read(v, to)
	}, t.Schema)
}

// traces reads where traces go. A secret does not travel in the clear.
func traces() typeOf[Traces] {
	t := section((*Traces).fields)
	return document.New(func(v value, to *Traces) bool {
		var read Traces
		before := v.Count
		if t.Read(v, &read); v.Count > before {
			return false
		}
		*to = read
		if len(read.Headers) > 0 && strings.HasPrefix(read.Endpoint, "http:") && !isLoopback(hostOf(read.Endpoint)) {
			v.Fault("headers would be sent unencrypted to another machine", "use an https:// endpoint, or one on this machine")
			return false
		}
		return true
	}, t.Schema)
}

// header reads a header whose value is in one place. No line of it is shown: a person may have written
// the secret there.
func header() typeOf[Header] {
	t := section((*Header).fields)
	return document.New(func(v value, to *Header) bool {
		v.Private++
		defer func() { v.Private-- }()
		var read Header
		before := v.Count
		if t.Read(v, &read); v.Count > before {
			return false
		}
		if (read.Env == "") == (read.File == "") {
			v.Fault("needs either env or file", "the value is a secret: write it into an environment variable or a private file, and name that here")
			return false
		}
		*to = read
		return true
	}, t.Schema)
}

// loopbackAddress reads a host and a port that only this machine reaches.
func loopbackAddress() typeOf[string] {
	const form = "write it like 127.0.0.1:9464"
	return document.Then(command(), func(v value, text string) (string, bool) {
		host, port, ok := splitAddress(text)
		switch {
		case !ok:
			v.Fault(quote(text)+" is not an address with a port", form)
		case !isLoopback(host):
			v.Fault(quote(text)+" can be reached from other machines", "listen on 127.0.0.1, [::1] or localhost; "+form)
		case !isPort(port):
			v.Fault(quote(port)+" is not a port", form)
		default:
			return text, true
		}
		return "", false
	}).As(func() schema {
		return document.Matching(`^\S+:[0-9]{1,5}$`)
	})
}

// splitAddress parts HOST:PORT; the host of [::1]:80 is ::1.
func splitAddress(text string) (host, port string, ok bool) {
	at := strings.LastIndexByte(text, ':')
	if at < 0 {
		return "", "", false
	}
	host, port = text[:at], text[at+1:]
	if inner, ipv6 := strings.CutPrefix(host, "["); ipv6 {
		host, ok = strings.CutSuffix(inner, "]")
		return host, port, ok
	}
	return host, port, !strings.Contains(host, ":")
}

func isPort(text string) bool {
	_, err := strconv.ParseUint(text, 10, 16)
	return err == nil
}

// isLoopback reports whether a host is this machine and nothing else. A name that has to be looked up
// is not: what it means is not ours to say.
func isLoopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && address.IsLoopback() && address.Zone() == ""
}

// IsLoopback is isLoopback for a host with or without a port, as in a request's Host header.
func IsLoopback(hostPort string) bool {
	if host, port, ok := splitAddress(hostPort); ok && isPort(port) {
		return isLoopback(host)
	}
	return isLoopback(strings.TrimSuffix(strings.TrimPrefix(hostPort, "["), "]"))
}

// endpoint reads the base URL of a server. It holds no secret, so that it can be shown.
func endpoint() typeOf[string] {
	const form = "write http or https, a host and a port, as docs/guides/metrics.md shows" // an example would be masked
	return document.Then(command(), func(v value, text string) (string, bool) {
		u, err := url.Parse(text)
		switch {
		case err != nil || u.Host == "" || u.Hostname() == "" || u.Opaque != "" || strings.ContainsFunc(text, unicode.IsSpace):
			v.Fault("is not a URL with a host", form)
		case u.Scheme != "http" && u.Scheme != "https":
			v.Fault("the scheme must be http or https", "OTLP over gRPC is not supported")
		case u.User != nil:
			v.Fault("must not contain a user or a password", "use headers: they name an environment variable or a file")
		case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
			v.Fault("must not contain a query or a fragment", "use headers for tokens: they name an environment variable or a file")
		default:
			return strings.TrimRight(text, "/"), true
		}
		return "", false
	}).As(func() schema { return document.Matching(`^https?://[^\s?#@]+$`) })
}

// hostOf is the host of a URL that endpoint has read.
func hostOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// anywhere reads a path that means the same wherever the daemon was started.
func anywhere() typeOf[string] {
	return document.Then(command(), func(v value, text string) (string, bool) {
		if !strings.HasPrefix(text, "/") && !strings.HasPrefix(text, "~/") && !isDrivePath(text) {
			v.Fault("must be an absolute path", "or one that begins with ~/")
			return "", false
		}
		return text, true
	})
}

// isDrivePath reports whether a path begins with a drive, as on Windows.
func isDrivePath(text string) bool {
	return len(text) > 2 && text[1] == ':' && (text[2] == '\\' || text[2] == '/')
}
