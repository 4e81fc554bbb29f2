package effect

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/stopgate/stopgate/internal/agents/errand"
	"github.com/stopgate/stopgate/internal/sys/plain"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

// maxEnvFile is larger than the environment that a program can have.
const maxEnvFile = 256 << 10

// fromFile adds the variables of a step's env_file to those that it has: what the runbook itself
// says wins. A file that cannot be read fails the start for good.
func fromFile(own map[string]string, file, dir string) (map[string]string, error) {
	if file == "" {
		return own, nil
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(dir, file)
	}
	data, err := regular.Read(file, maxEnvFile)
	if err != nil {
		return nil, &errand.Failure{Why: "env_file: " + err.Error()}
	}
	all, err := parseEnv(string(data))
	if err != nil {
		return nil, &errand.Failure{Why: fmt.Sprintf("env_file: %s:%v", file, err)}
	}
	for name, value := range own {
		all[name] = value
	}
	return all, nil
}

// parseEnv reads lines of NAME=VALUE. Empty lines and those that begin with # say nothing; "export"
// before a name and quotes around a value are left out. Nothing in it is expanded.
func parseEnv(text string) (map[string]string, error) {
	all := map[string]string{}
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, value, found := strings.Cut(strings.TrimPrefix(line, "export "), "=")
		name = strings.TrimSpace(name)
		if !found || !plain.IsWord(name, "", 200) || strings.Contains(name, "-") || strings.ContainsRune(value, 0) {
			return nil, fmt.Errorf("%d: not NAME=VALUE", number)
		}
		all[name] = unquote(strings.TrimSpace(value))
	}
	return all, nil
}

// unquote takes one pair of quotes off a value.
func unquote(value string) string {
	if n := len(value); n >= 2 && value[0] == value[n-1] && (value[0] == '"' || value[0] == '\'') {
		return value[1 : n-1]
	}
	return value
}
