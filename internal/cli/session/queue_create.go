package session

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	xterm "golang.org/x/term"

	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/session/driver"
	"github.com/stopgate/stopgate/internal/session/queue"
	"github.com/stopgate/stopgate/internal/sys/program"
)

// tuiDriver is the link name under which the program only makes queues.
const tuiDriver = "tui-driver"

// NewTUIDriver is the command tree under the name tui-driver.
func NewTUIDriver() *cobra.Command {
	cmd := newQueueCreate(tuiDriver)
	cmd.Use = strings.Replace(cmd.Use, "create", tuiDriver, 1)
	cmd.Version = program.Version()
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetFlagErrorFunc(term.FlagError)
	term.FilterOutput(cmd)
	term.FitHelp(cmd)
	return cmd
}

// IsTUIDriver tells the link from the program that a copy of that name starts to go on
// with a queue.
func IsTUIDriver(args []string) bool {
	return program.Called(args[0]) == tuiDriver && (len(args) == 1 || args[1] != "queue")
}

type createOptions struct {
	session string
	file    string
	replace bool
	asJSON  bool
}

// newQueueCreate makes the command for the words that it is called by.
func newQueueCreate(words string) *cobra.Command {
	var o createOptions
	cmd := &cobra.Command{
		Use:   "create [ORDER]",
		Short: "Create a queue from JSON",
		Long: `Create a queue for Claude Code in a tmux session and type its first command; if Claude Code is
busy, the command is typed when it stops.

ORDER is JSON: an object with the session and its commands, or an array of commands together with
--session. "-" reads it from standard input, and so does leaving it out unless standard input is a
terminal. Some systems limit an argument to 128 kB; standard input and files may have 10 MB.

A command is anything you could type: a slash command, or a prompt of any number of lines, up to
1 MiB.

Exit code 1: refused; the session has a queue, does not exist or does not run Claude Code, or a
command cannot be typed. 2: invalid JSON or command line. 3: tmux is not installed.`,
		Example: strings.ReplaceAll(`  PROGRAM '{"session": "main", "commands": ["/clear", "/plan 3"]}'
  PROGRAM --session main '["Run the tests.\nFix what fails."]'
  PROGRAM --replace --file order.json
  jq -n '{commands: [$ARGS.named[]]}' --rawfile a prompt.md |
    PROGRAM --session main`, "PROGRAM", words),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd, args)
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.session, "session", "s", "", "the tmux session, if ORDER does not name it")
	flags.StringVar(&o.file, "file", "", "read ORDER from this file")
	flags.BoolVar(&o.replace, "replace", false, "cancel the queue that the session has")
	flags.BoolVar(&o.asJSON, "json", false, "print JSON")
	sessionFlag(cmd, "session")
	return cmd
}

func (o *createOptions) run(cmd *cobra.Command, args []string) error {
	name, text, err := o.read(cmd, args)
	if err != nil {
		return err
	}
	if cmd.Flags().Changed("session") && o.session == "" {
		return term.BadUsage(errors.New("--session must not be empty"), "see: "+cmd.CommandPath()+" --help")
	}
	order, err := parseOrder(name, text, o.session)
	if err != nil {
		return err
	}
	order.Replace = o.replace
	desk, err := newDesk()
	if err != nil {
		return err
	}
	ctx, stop := term.UntilSignal(cmd)
	defer stop()
	settled := comfort(cmd.ErrOrStderr(), order.Session)
	q, err := desk.driver.Create(ctx, order)
	settled()
	return desk.report(cmd, order.Session, q, err, o.asJSON)
}

// maxOrder bounds an order.
const maxOrder = 10 << 20

// read gets the text of the order from the one source that there is.
func (o *createOptions) read(cmd *cobra.Command, args []string) (name string, text []byte, err error) {
	hint := "usage: " + cmd.UseLine()
	in := cmd.InOrStdin()
	switch {
	case len(args) > 1:
		return "", nil, term.BadUsage(fmt.Errorf("%s takes one argument, got %d", term.Words(cmd), len(args)), "put the JSON in single quotes: '"+orderExample+"'")
	case len(args) == 1 && o.file != "":
		return "", nil, term.BadUsage(errors.New("an argument and --file cannot be combined"), hint)
	case len(args) == 1 && args[0] != "-":
		return "argument", []byte(args[0]), nil
	case o.file != "":
		file, err := os.Open(o.file)
		if err != nil {
			return "", nil, err
		}
		defer file.Close()
		text, err := readOrder(file, o.file)
		return o.file, text, err
	case len(args) == 0 && isTerminal(in):
		return "", nil, term.BadUsage(errors.New("ORDER is missing"), "for example: "+cmd.CommandPath()+" '"+orderExample+"'")
	}
	text, err = readOrder(in, "standard input")
	return "standard input", text, err
}

func readOrder(in io.Reader, name string) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(in, maxOrder+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", name, err)
	case len(text) > maxOrder:
		return nil, term.BadUsage(fmt.Errorf("%s has more than %d MB", name, maxOrder>>20), "put long texts in a file and name it in a command")
	}
	return text, nil
}

func isTerminal(in io.Reader) bool {
	file, ok := in.(*os.File)
	return ok && xterm.IsTerminal(int(file.Fd()))
}

// report says what became of a queue that was to be begun with. An error may have come
// after the queue was written down.
func (d *desk) report(cmd *cobra.Command, session string, q queue.Queue, err error, asJSON bool) error {
	v, found := d.lookFor(session, q)
	var refused *driver.RefusedError
	switch {
	case err != nil && (!found || errors.As(err, &refused)):
		return forQueue(err, session)
	case err != nil:
		return term.WithHint(forQueue(err, session), "its queue exists: stopgate queue show "+term.ShellWord(session))
	case !found: // it has come to its end, and others after it
		return nil
	}
	if asJSON {
		if err := term.PrintJSON(cmd.OutOrStdout(), v); err != nil || !v.broken() {
			return err
		}
		return term.ErrSilent
	}
	if v.broken() {
		return term.WithHint(fmt.Errorf("session %s: %s", term.Shown(session), v.State), "its queue file is now "+v.Path+"\ntry again with: stopgate queue retry "+term.ShellWord(session))
	}
	fmt.Fprintf(term.Prose(cmd.OutOrStdout()), "session %s%s: %s\nwatch it with: stopgate queue show %s --watch (its file is %s)\n", term.Shown(session), inPane(q), v.begun(q.Active()), term.ShellWord(session), v.Path)
	return nil
}

// inPane names the pane, since a session may have several clients.
func inPane(q queue.Queue) string {
	if q.Stopgate == nil || q.Stopgate.Place == nil {
		return ""
	}
	return ", pane " + q.Stopgate.Place.Pane
}

// lookFor finds a queue again, if it was written down.
func (d *desk) lookFor(session string, q queue.Queue) (queueView, bool) {
	if q.Stopgate == nil {
		return queueView{}, false
	}
	v, err := d.find(session, q.Stopgate.ID)
	return v, err == nil
}
