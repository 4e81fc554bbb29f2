//go:build unix

package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/stopgate/stopgate/internal/control/probe"
	"github.com/stopgate/stopgate/internal/control/shell"
)

// stopgated stands in for the program of that name, as far as scripts need it.
func stopgated() {
	switch words := strings.Join(os.Args[1:], " "); {
	case words == "provider-check":
	case words == "command-needs":
		if err := shell.Serve(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	case words == "daemon":
		fakeDaemon()
		return
	case strings.HasPrefix(words, "runbook "):
		fmt.Println("stopgated", words)
		os.Exit(1)
	case words == "store-verify":
		code, _ := strconv.Atoi(os.Getenv("FAKE_VERIFY"))
		fmt.Println("the store: 3 events, damaged")
		os.Exit(max(code, 1))
	case words == "store-verify --json":
		fmt.Println(`{"events": 3}`)
		return
	default:
		os.Exit(2)
	}
	if err := (probe.Prober{UserAgent: "stopgate/test"}).Serve(context.Background(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// startEndpoint is "endpoint VARIABLE STATUS [MESSAGE]": a provider's endpoint on
// loopback that answers everything with that status and error message, in which
// {headers} is all that it was sent. Its URL goes into the variable. The status
// "closed" means that nobody listens there, "stuck" that it never answers: then the
// file $WORK/asked says that it was asked.
func startEndpoint(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: endpoint VARIABLE STATUS [MESSAGE]")
	}
	asked := filepath.Join(ts.Getenv("WORK"), "asked")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if args[1] == "stuck" {
			_ = os.WriteFile(asked, nil, 0o600)
			<-r.Context().Done()
			return
		}
		status, _ := strconv.Atoi(args[1])
		message := strings.ReplaceAll(strings.Join(args[2:], ""), "{headers}", fmt.Sprint(r.Header))
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]string{"message": message}})
	}))
	ts.Setenv(args[0], server.URL)
	if args[1] == "closed" {
		server.Close()
		return
	}
	ts.Defer(server.Close)
}
