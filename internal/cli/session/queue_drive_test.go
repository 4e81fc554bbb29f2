package session

import (
	"context"
	"io"
	"testing"
)

// Whoever types waits for the hook that started it, and no longer than it is wanted.
func TestAwaitEnd(t *testing.T) {
	for name, end := range map[string]func(hook *io.PipeWriter, stop context.CancelFunc){
		"the hook ends":    func(hook *io.PipeWriter, _ context.CancelFunc) { hook.Close() },
		"somebody ends us": func(_ *io.PipeWriter, stop context.CancelFunc) { stop() },
	} {
		t.Run(name, func(t *testing.T) {
			in, hook := io.Pipe()
			defer hook.Close()
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			waited := make(chan struct{})
			go func() {
				defer close(waited)
				awaitEnd(ctx, in)
			}()
			if _, err := hook.Write([]byte("noise")); err != nil { // it is read, so it is waited for
				t.Fatal(err)
			}
			select {
			case <-waited:
				t.Fatal("it did not wait")
			default:
			}
			end(hook, stop)
			<-waited
		})
	}
}
