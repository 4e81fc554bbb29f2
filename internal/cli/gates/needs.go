package gates

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"

	"github.com/stopgate/stopgate/internal/cli/here"
	"github.com/stopgate/stopgate/internal/gate/need"
)

// needs has stopgated say what command lines need.
func Needs(ctx context.Context, question need.Question) (answer [][]need.Need, err error) {
	program, err := here.FindProgram("stopgated", os.Environ())
	if err != nil {
		return nil, err
	}
	stdin, err := json.Marshal(question)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, "command-needs")
	cmd.Stdin = bytes.NewReader(stdin)
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s command-needs: %w", program, err)
	}
	return answer, json.Unmarshal(out, &answer)
}
