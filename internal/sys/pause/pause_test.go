package pause

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestForEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := For(ctx, time.Millisecond); err != nil {
			t.Errorf("the context lives: %v", err)
		}
		if err := For(ctx, time.Hour); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the context has ended: %v", err)
		}
	})
}

func TestDoublingTriesAtOnceAndThenLessAndLess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		begun, last, tries := time.Now(), time.Now(), 0
		for range Doubling(ctx, time.Second, 4*time.Second) {
			if tries++; tries == 1 && time.Since(begun) > 0 {
				t.Error("the first try waited")
			}
			if waited := time.Since(last); waited > 6*time.Second {
				t.Errorf("it waited %s", waited)
			}
			last = time.Now()
		}
		if time.Since(begun) != time.Minute || tries < 10 || tries > 60 {
			t.Errorf("%d tries in %s", tries, time.Since(begun))
		}
	})
}
