// Command stopgated does what is too heavy for the program that answers hooks.
// stopgate starts it; people seldom do.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"

	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/endpoint/probe"
)

const usage = `usage: stopgated provider-check   read a JSON list of providers, print one answer per line
       stopgated version          print the version
`

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

func run(args []string, in io.Reader, out, errOut io.Writer) int {
	var err error
	switch {
	case slices.Equal(args, []string{"provider-check"}):
		err = probe.Prober{UserAgent: "stopgate/" + cli.Version()}.Serve(context.Background(), in, out)
	case slices.Equal(args, []string{"version"}):
		_, err = fmt.Fprintf(out, "stopgated %s %s/%s %s\n", cli.Version(), runtime.GOOS, runtime.GOARCH, runtime.Version())
	default:
		fmt.Fprint(errOut, usage)
		return 2
	}
	if err != nil {
		fmt.Fprintf(errOut, "stopgated: %v\n", err)
		return 1
	}
	return 0
}
