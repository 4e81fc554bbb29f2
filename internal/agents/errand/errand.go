// Package errand runs commands that go on when the daemon that started them does not.
//
// An errand has a directory, and a process of its own that runs the command: the runner,
// "stopgate errand DIR". In the directory are
//
//	spec.json  what is to be run
//	lock       held by whoever starts, runs or ends the errand, and from its start to
//	           its end by the runner; the kernel frees it when the runner is killed
//	begun      the runner; made before the command starts, and never again
//	group      the command's process group, for whoever cleans up after a dead runner
//	output     what the command leaves for others: lines of NAME=VALUE
//	kill       somebody wants it to end, or never to begin
//	exit.json  how it ended
//
// A command that needs a terminal has its runner there: "stopgate errand --terminal DIR".
// Whoever starts it cannot hand anything over, so there are besides
//
//	env        the environment, until the runner has begun: it may hold secrets
//	said       what the runner says to whoever started it
//
// So the directory always tells what became of the command:
//
//	exit.json               it ended so
//	begun, and a held lock  it runs
//	begun, and a free lock  the runner was killed: how it ended, nobody knows
//	none of them            it never ran, and can be started
//
// No directory runs two commands, whoever is killed when.
package errand

import "time"

// Spec is what is to be run.
type Spec struct {
	Owner  string `json:"owner"`  // whom it is for: a directory outlives what it was made for
	Script string `json:"script"` // for sh
	Dir    string `json:"dir"`    // where it runs
	Log    string `json:"log"`    // the file that its output is added to
	Label  string `json:"label"`  // stands in each line of the log
	// LogLimit is how many bytes of the log its output may take; 0 is for LogLimit.
	LogLimit int64    `json:"log_limit,omitempty"`
	Env      []string `json:"-"` // of the command; not kept on disk, it may hold secrets
	// Terminal says that it runs in one. StartInTerminal sets it.
	Terminal bool `json:"terminal,omitempty"`
}

// Result is how an errand ended.
type Result struct {
	Code   int       `json:"code"`           // 128 and the signal, where one ended it; -1 where it was ended before it ran, or with its runner
	Tail   string    `json:"tail,omitempty"` // the last lines of its output
	Ended  time.Time `json:"ended"`
	Failed string    `json:"failed,omitempty"` // why it could not be run at all
	Lost   bool      `json:"-"`                // how it ended, nobody knows

	Output map[string]string `json:"output,omitempty"` // what it left for others
	Fault  string            `json:"fault,omitempty"`  // why that cannot be read
}

// Failure is why a command could not be started. Nothing of it has run, and trying again
// would not help.
type Failure struct{ Why string }

func (f *Failure) Error() string { return f.Why }
