package daemon

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/stopgate/stopgate/internal/control/trace"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

// newTraces is what sends traces of stops, as the configuration says.
func (d *daemon) newTraces() *trace.Exporter {
	return trace.New(trace.Options{
		Version: d.Version,
		Target:  func() (trace.Target, error) { return traceTarget(d.config.now().Traces, d.Environ) },
		Count:   d.metrics.Traced,
		Trouble: func(err error) {
			if err == nil {
				d.Log.Info("traces are sent again")
			} else {
				d.Log.Warn("traces are dropped", "error", err)
			}
			d.core.trouble.set("traces", err)
		},
	})
}

// traceTarget is where traces go, with the secrets that the configuration names.
func traceTarget(c config.Traces, env []string) (trace.Target, error) {
	target := trace.Target{Endpoint: c.Endpoint, Headers: map[string]string{}}
	for _, h := range c.Headers {
		value, err := secret(h, env)
		if err != nil {
			return trace.Target{}, fmt.Errorf("traces.headers, %s: %w", h.Name, err)
		}
		target.Headers[h.Name] = value
	}
	return target, nil
}

// secret reads the value of a header. No error holds any of it.
func secret(h config.Header, env []string) (string, error) {
	from := "the environment variable " + h.Env + " of the daemon"
	text := environ.Get(env, h.Env)
	if h.File != "" {
		path := h.File
		if below, home := strings.CutPrefix(path, "~/"); home {
			path = filepath.Join(paths.Home(func(name string) string { return environ.Get(env, name) }), below)
		}
		content, err := readPrivate(path)
		if err != nil {
			return "", err
		}
		from, text = path, string(content)
	}
	text = strings.TrimSpace(text)
	if text == "" {
		return "", fmt.Errorf("%s is empty or not set", from)
	}
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r >= 0x7f }) {
		return "", fmt.Errorf("%s has more than one line, or characters that a header cannot have", from)
	}
	return text, nil
}

// maxSecret is longer than any token.
const maxSecret = 64 << 10

// readPrivate reads a file that only its owner can read.
func readPrivate(path string) ([]byte, error) {
	file, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err == nil {
		err = onlyOwners(path, info)
	}
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(file, maxSecret))
}
