package journal

import (
	"errors"
	"fmt"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/sys/atomicfile/atomicfiletest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
	"github.com/stopgate/stopgate/internal/sys/process/processtest"
)

func init() { children["refused"] = childRefused }

// Where the kernel refuses to sync, a record that is durable is an error.
func TestSyncsThatTheKernelRefuses(t *testing.T) {
	out, err := processtest.Child(t, "refused", t.TempDir()).Output()
	check(t, err)
	if len(out) > 0 {
		environtest.Missing(t, "way to have the kernel refuse a system call", errors.New(string(out)))
	}
}

func childRefused(args []string) error {
	j := New(args[0], Limits{})
	if _, err := j.Append(&event.Record{Event: "Stop", Project: "/p"}); err != nil {
		return err
	}
	if err := atomicfiletest.Refuse(unix.SYS_FDATASYNC); err != nil {
		fmt.Println(err)
		return nil
	}
	if _, err := j.Append(&event.Record{Event: "Stop", Project: "/p"}); !errors.Is(err, unix.EIO) {
		return fmt.Errorf("error %w, want EIO", err)
	}
	return nil
}
