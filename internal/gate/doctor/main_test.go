package doctor

import (
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/gate/stop"
	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

var check = checktest.OK

// This binary is the stopgate that doctor tries: it answers as STOPGATE_DOCTOR_TEST says.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "hook" {
		os.Exit(answer(os.Getenv("STOPGATE_DOCTOR_TEST")))
	}
	environtest.Clean()
	m.Run()
}

const blockAnswer = `{"decision":"block","reason":"` + probeReason + `"}`

func answer(how string) (code int) {
	_, _ = io.Copy(io.Discard, os.Stdin)
	_, missing := os.Stat("fixed")
	switch {
	case how == "fail":
		fmt.Fprintln(os.Stderr, "oh dear")
		return 3
	case how == "chat":
		fmt.Println("hello")
	case how == "allow":
	case how == "agree":
		fmt.Println(`{"decision":"approve","reason":"fine"}`)
	case how == "hang":
		_ = os.WriteFile(os.Getenv("STOPGATE_DOCTOR_STARTED"), nil, 0o600)
		time.Sleep(time.Hour)
	case how == "always", missing != nil:
		turn := stop.Turn{Session: os.Getenv("CLAUDE_CODE_SESSION_ID")}
		counted := func(map[string]int) string { return "" }
		if _, err := stop.NewCounter(os.Getenv("STOPGATE_STATE_DIR")).Claim(turn, false, "guard", time.Now(), counted); err != nil {
			return 4
		}
		fmt.Println(blockAnswer)
	}
	return 0
}
