package journal

import (
	"os"
	"sync"

	"github.com/stopgate/stopgate/internal/sys/process"
)

// host is empty when the system has no name for itself.
var host = sync.OnceValue(func() string {
	name, _ := os.Hostname()
	return name
})

// boot tells the pids of different boots apart. It is empty where the system has
// no such id.
var boot = sync.OnceValue(process.BootID)
