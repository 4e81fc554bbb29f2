package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// uiOptions are the flags of stopgate ui.
type uiOptions struct {
	daemonapi.UIControl
	open, yes bool
}

// NewUI is the command that turns the web page on.
func NewUI() *cobra.Command {
	var o uiOptions
	cmd := asks(&cobra.Command{
		Use:   "ui",
		Short: "Open the web page: see every agent, answer decisions",
		Long: `Turn on the daemon's web page and print a link that signs one browser in. The link works once, for
5 minutes. The browser stays signed in for 30 days, or until it has not been used for 7.

The page is for this machine alone, at a port that stays the same. It stays on until you turn it off,
even after the daemon restarts. The daemon is started if it is not running.

With --listen, other machines and your phone can reach it too, always with TLS. Use a certificate that
your devices trust (--cert, --key): without one stopgate makes its own, browsers warn about it once, and
push messages do not work. The QR code carries the link.

An agent cannot run this command. A script outside an agent passes --yes.

Exit code 0: done. 1: this is an agent's shell, or there is no terminal. 2: usage error. 3: the daemon
could not be started, or cannot listen at the address.`,
		Example: `  stopgate ui --open
  stopgate ui --listen :8443
  stopgate ui --off`,
		Args:    term.NoArgs,
		PreRunE: func(*cobra.Command, []string) error { return o.check() },
	}, func(ctx context.Context, p *Daemon, _ []string) error { return p.controlUI(ctx, o) })
	flags := cmd.Flags()
	flags.BoolVar(&o.Off, "off", false, "turn the page off and sign all browsers out")
	flags.BoolVar(&o.SignOut, "sign-out", false, "sign all browsers out")
	flags.StringVar(&o.Listen, "listen", "", "let other machines reach the page at HOST:PORT, with TLS")
	flags.StringVar(&o.Cert, "cert", "", "the certificate for --listen, a PEM file")
	flags.StringVar(&o.Key, "key", "", "the certificate's key, a PEM file")
	flags.BoolVar(&o.open, "open", false, "open the link in your browser")
	flags.BoolVar(&o.yes, "yes", false, "work without a terminal; for scripts (agents are refused)")
	return cmd
}

// check finds what is wrong before a daemon is started for it.
func (o *uiOptions) check() error {
	if err := trust.RequirePerson("open the web page", o.yes); err != nil {
		return err
	}

	switch {
	case o.Off && o.SignOut, (o.Off || o.SignOut) && (o.Listen != "" || o.open):
		return term.BadUsage(errors.New("--off and --sign-out cannot be combined with other flags"), "see: stopgate help ui")
	case (o.Cert == "") != (o.Key == ""):
		return term.BadUsage(errors.New("--cert and --key must be given together"), "for example: --cert site.pem --key site.key")
	case o.Cert != "" && o.Listen == "":
		return term.BadUsage(errors.New("--cert needs --listen"), "for example: stopgate ui --listen :8443 --cert site.pem --key site.key")
	}
	if _, _, err := net.SplitHostPort(o.Listen); o.Listen != "" && err != nil {
		return term.BadUsage(fmt.Errorf("--listen %q: %w", o.Listen, err), "for example: --listen :8443, or --listen 192.168.1.5:8443")
	}

	for _, path := range []*string{&o.Cert, &o.Key} {
		if *path == "" {
			continue
		}
		whole, err := filepath.Abs(*path)
		if err != nil {
			return err
		}
		*path = whole
	}
	return nil
}

func (p *Daemon) controlUI(ctx context.Context, o uiOptions) error {
	if _, err := p.Version(ctx); err != nil && o.Off && daemonapi.PageURL(p.stateDir) == "" {
		return term.Show(p.out, p.asJSON, uiView{daemonapi.UI{}, o}) // no daemon is started to say so
	}
	if _, err := p.wake(ctx); err != nil {
		return err
	}
	ui, err := p.ControlUI(ctx, o.UIControl)
	if err != nil {
		return err
	}
	if err := term.Show(p.out, p.asJSON, uiView{ui, o}); err != nil {
		return err
	}
	if o.open {
		if err := openBrowser(ui.Link); err != nil {
			fmt.Fprintf(p.errOut, "stopgate: cannot open a browser (%v); open the link yourself\n", err)
		}
	}
	return nil
}

// openBrowser opens an address as the desktop does. It does not wait: some openers end with the browser.
func openBrowser(link string) error {
	opener := "xdg-open"
	if runtime.GOOS == "darwin" {
		opener = "open"
	}
	return exec.Command(opener, link).Start()
}

// uiView tells a person where the page is.
type uiView struct {
	daemonapi.UI
	asked uiOptions
}

// Print implements term.View.
func (v uiView) Print(out io.Writer) {
	paint := term.PaintFor(out)
	signedOut := plain.Count(v.SignedOut, "browser") + " signed out"
	switch {
	case v.asked.Off:
		fmt.Fprintln(out, "the web page is off; "+signedOut)
		return
	case v.asked.SignOut:
		fmt.Fprintln(out, signedOut)
		return
	}

	fmt.Fprintf(out, "the web page is on: %s\n", v.URL)
	if v.Remote != "" {
		fmt.Fprintf(out, "for other machines: %s\n", v.Remote)
	}
	fmt.Fprintln(out)
	if v.QR != "" {
		fmt.Fprintln(out, v.QR)
	}

	until := ""
	if v.Expires != nil {
		until = ", until " + v.Expires.Local().Format("15:04")
	}
	fmt.Fprintf(out, "%s\n  %s\n", paint.Faint("This link signs one browser in, once"+until+":"), v.Link)

	if v.Code != "" {
		half := len(v.Code) / 2
		fmt.Fprintf(out, "%s %s\n", paint.Faint("Or type the code there:"), v.Code[:half]+"-"+v.Code[half:])
	}
	if v.Fingerprint != "" && v.asked.Listen != "" {
		fmt.Fprintln(out, "\nYour browser will warn: the certificate is stopgate's own, and push messages do not work with it.\nIts SHA-256 is "+v.Fingerprint)
	}
	fmt.Fprintln(out, "\n"+paint.Faint("Turn it off with: stopgate ui --off"))
}

// JSON is what the daemon answered.
func (v uiView) JSON() any { return v.UI }
