package regular

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/windows"

	"github.com/stopgate/stopgate/internal/sys/pause"
)

// openPatience is far more than it takes to replace a file.
const openPatience = 5 * time.Second

// whenFree opens a file. While another process replaces it, Windows refuses that.
func whenFree(open func() (*os.File, error)) (file *os.File, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), openPatience)
	defer cancel()
	for range pause.Doubling(ctx, time.Millisecond, 5*time.Millisecond) {
		if file, err = open(); !errors.Is(err, windows.ERROR_SHARING_VIOLATION) {
			break
		}
	}
	return file, err
}
