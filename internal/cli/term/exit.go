package term

// The exit codes. What Claude Code calls never uses ExitUsage: to Claude Code 2 means
// block.
const (
	ExitOK          = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitCouldNotRun = 3
	ExitCancelled   = 4
	ExitInterrupted = 130
	ExitBrokenPipe  = 141 // as a shell reports a program that SIGPIPE ended, which is how most of ours end then
)

// Situation is a way in which a command ends, and its exit code.
type Situation struct {
	Code int
	What string
}

// Situations are all ways in which a command ends. The same situation has the same exit code
// in every command but the hooks.
var Situations = []Situation{
	{ExitOK, "done, or nothing to do"},
	{ExitFailed, "a gate failed"},
	{ExitFailed, "a check of the setup found a problem"},
	{ExitFailed, "refused in an agent's shell"},
	{ExitFailed, "it has to ask, and there is no terminal"},
	{ExitFailed, "no such tmux session, or it has no queue"},
	{ExitFailed, "any other error"},
	{ExitUsage, "unknown command, flag or argument"},
	{ExitUsage, "unknown id or name"},
	{ExitUsage, "no project here"},
	{ExitUsage, "invalid configuration"},
	{ExitCouldNotRun, "the configuration is not approved"},
	{ExitCouldNotRun, "a program is missing"},
	{ExitCouldNotRun, "it needs a terminal, and there is none"},
	{ExitCouldNotRun, "another run holds the lock"},
	{ExitCouldNotRun, "the daemon is not running"},
	{ExitCouldNotRun, "this machine is not in a fleet"},
	{ExitCancelled, "what the command waited for was cancelled"},
	{ExitInterrupted, "interrupted"},
	{ExitBrokenPipe, "broken pipe"},
}
