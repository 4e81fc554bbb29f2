package review

import (
	"errors"
	"slices"

	"github.com/stopgate/stopgate/internal/harness/claude"
	"github.com/stopgate/stopgate/internal/record/event"
)

// adapter is a program that can review. All of them take the prompt on their
// standard input. Claude Code takes nothing from the project, as measured; codex and
// copilot are told to read no AGENTS.md; gemini and cursor have no such flag.
type adapter struct {
	name    string
	program string
	// args are those of a review, without the program itself.
	args func(at place, model string) []string
	// hello are those that get a word out of it; nil if the same will do.
	hello func(at place) []string
	// words finds what the model said in the output, or the error that the
	// program reports there.
	words func(stdout []byte) ([]byte, error)
	// spent finds what the review cost in the output; nil if the program does not tell.
	spent func(stdout []byte) event.Cost
}

// place is where a reviewer runs.
type place struct {
	root   string
	config string // the directory of the user's settings of Claude Code
}

// readers are the tools that a reviewer needs. None of them changes anything.
var readers = []string{"Read", "Glob", "Grep"}

// maxTurns lets a reviewer read the files around a large change; agent-gauntlet
// began with 10 and came to this.
const maxTurns = 25

var adapters = []adapter{
	{
		name: "claude", program: "claude",
		args: func(at place, model string) []string {
			return claude.Call{Model: model, Schema: answerSchema, Tools: readers, MaxTurns: maxTurns, Dir: at.root, Config: at.config}.Args()
		},
		hello: func(at place) []string { return claude.Call{MaxTurns: 1, Dir: at.root, Config: at.config}.Args() },
		words: claudeWords,
		spent: claudeSpent,
	},
	{
		name: "codex", program: "codex", words: plain,
		args: func(at place, model string) []string {
			args := []string{"exec", "--cd", at.root, "--sandbox", "read-only", "--skip-git-repo-check", "-c", `approval_policy="never"`, "-c", "project_doc_max_bytes=0"}
			return append(withModel(args, model), "-") // the prompt is on standard input
		},
	},
	{
		// Not --sandbox, which needs a container engine and an image. Without a person
		// and with the default approval there are no tools but those that read.
		name: "gemini", program: "gemini", words: plain,
		args: func(_ place, model string) []string {
			return withModel([]string{
				"--approval-mode", "default",
				"--allowed-tools", "read_file,list_directory,glob,search_file_content",
				"--output-format", "text",
			}, model)
		},
	},
	{
		// Not find, which deletes and runs commands too.
		name: "github-copilot", program: "copilot", words: plain,
		args: func(_ place, model string) []string {
			args := []string{"-s", "--no-custom-instructions", "--deny-tool", "write"}
			for _, command := range []string{"cat", "grep", "ls", "head", "tail"} {
				args = append(args, "--allow-tool", "shell("+command+")")
			}
			return withModel(args, model)
		},
	},
	{
		name: "cursor", program: "agent", words: plain,
		args: func(_ place, model string) []string {
			return withModel([]string{"-p", "--mode", "ask", "--trust", "--output-format", "text"}, model)
		},
	},
}

// Names are those of all adapters.
func Names() []string {
	names := make([]string, len(adapters))
	for i, a := range adapters {
		names[i] = a.name
	}
	return names
}

func adapterNamed(name string) (adapter, bool) {
	i := slices.IndexFunc(adapters, func(a adapter) bool { return a.name == name })
	if i < 0 {
		return adapter{}, false
	}
	return adapters[i], true
}

func withModel(args []string, model string) []string {
	if model == "" {
		return args
	}
	return append(args, "--model="+model) // one argument: a model is never a flag
}

// plain takes the output for what the model said.
func plain(stdout []byte) ([]byte, error) { return stdout, nil }

// claudeWords are the structured answer, or what the model said instead. A
// program that prints no result but the answer itself stands in for Claude Code
// well enough.
func claudeWords(stdout []byte) ([]byte, error) {
	result, err := claude.ParseResult(stdout)
	switch {
	case errors.Is(err, claude.ErrNoResult):
		return stdout, nil
	case result.Err() != nil:
		return nil, result.Err()
	case result.Structured != nil:
		return result.Structured, nil
	}
	return []byte(result.Text), nil
}

// claudeSpent is what Claude Code says that its work cost.
func claudeSpent(stdout []byte) event.Cost {
	result, err := claude.ParseResult(stdout)
	if err != nil {
		return event.Cost{}
	}
	return result.Spent()
}
