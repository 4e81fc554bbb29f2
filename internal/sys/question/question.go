// Package question asks a person at a terminal.
package question

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/plain"
)

// Asker asks questions, one a line. An empty answer takes the proposal.
type Asker struct {
	In  *bufio.Reader
	Out io.Writer
}

// Ask returns an error when there is no answer: who went away has agreed to nothing.
func (q Asker) Ask(question, proposal string) (string, error) {
	if proposal != "" {
		question += " [" + plain.Line(proposal) + "]"
	}
	fmt.Fprintf(q.Out, "%s: ", question)
	answer, err := q.In.ReadString('\n')
	if err != nil {
		fmt.Fprintln(q.Out)
		return "", errors.New("no answer; nothing was changed")
	}
	if answer = strings.TrimSpace(answer); answer == "" {
		return proposal, nil
	}
	return answer, nil
}

// Agreed asks a question that is answered by yes or no.
func (q Asker) Agreed(question, proposal string) (bool, error) {
	answer, err := q.Ask(question, proposal)
	answer = strings.ToLower(answer)
	return answer == "y" || answer == "yes", err
}
