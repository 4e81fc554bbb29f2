package errand

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/plain"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

// outputVariable names the file in which a command leaves values for others: lines of NAME=VALUE.
const outputVariable = "STOPGATE_OUTPUT"

// What a command may leave.
const (
	maxOutputs    = 32 << 10 // in bytes
	maxOutputName = 64
)

// outputs are the values that the command left, or why they cannot be read.
func (d directory) outputs() (values map[string]string, fault string) {
	data, err := regular.Head(d.path("output"), maxOutputs+1)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ""
	}
	if err == nil {
		values, err = parseOutputs(data)
	}
	if err != nil {
		return nil, fmt.Sprintf("cannot read what the command wrote to $%s: %v", outputVariable, err)
	}
	return values, ""
}

func parseOutputs(data []byte) (map[string]string, error) {
	if len(data) > maxOutputs {
		return nil, fmt.Errorf("it has more than %d KiB", maxOutputs>>10)
	}
	values := map[string]string{}
	number := 0
	for line := range strings.Lines(strings.ToValidUTF8(string(data), "\uFFFD")) {
		number++
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) == "" {
			continue
		}
		name, value, found := strings.Cut(line, "=")
		switch {
		case !found || !plain.IsName(name, maxOutputName):
			return nil, fmt.Errorf("line %d is not NAME=VALUE, with a NAME of letters, digits, _ and -", number)
		case strings.ContainsRune(value, 0):
			return nil, fmt.Errorf("line %d contains a NUL byte", number)
		}
		values[name] = value
	}
	return values, nil
}
