package shell

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/stopgate/stopgate/internal/gate/need"
)

// Serve reads a question and writes the answer.
func Serve(in io.Reader, out io.Writer) error {
	var question need.Question
	if err := json.NewDecoder(in).Decode(&question); err != nil {
		return fmt.Errorf("cannot read the command lines: %w", err)
	}
	answer := make([][]need.Need, len(question.Lines))
	for i, line := range question.Lines {
		answer[i] = Needs(line, question.Home)
	}
	return json.NewEncoder(out).Encode(answer)
}
