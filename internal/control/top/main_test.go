package top

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

var check = checktest.OK

// breaks has the test binary show a screen whose source panics.
const breaks = "show-a-screen-that-breaks"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == breaks {
		if err := run(context.Background(), NewSource(nil, ""), State{}); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		return
	}
	environtest.Clean()
	m.Run()
}
