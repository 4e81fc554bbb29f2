package daemon

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestWaiters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWaiters(time.Now)
		expect := func(want bool, after time.Duration) {
			t.Helper()
			begun := time.Now()
			if got := w.expect(t.Context(), "r"); got != want || time.Since(begun) != after {
				t.Errorf("%t after %v, want %t after %v", got, time.Since(begun), want, after)
			}
		}
		expect(false, comeback)
		gone := w.wait("r")
		w.wait("other")(true)
		expect(true, 0)
		second := w.wait("r")
		gone(true)
		time.Sleep(time.Hour)
		expect(true, 0) // one still waits
		second(true)
		time.Sleep(time.Second)
		expect(true, 0) // he comes back
		time.Sleep(time.Millisecond)
		expect(false, comeback)
		w.wait("r")(false) // he was killed
		expect(false, comeback)

		go func() {
			time.Sleep(time.Second)
			w.wait("another")
			time.Sleep(time.Second)
			w.wait("r")
		}()
		expect(true, 2*time.Second)
	})
}

func TestWaitersAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWaiters(time.Now)
		stays := w.wait("stays")
		for range 100 {
			w.wait(time.Now().String())(true)
			time.Sleep(time.Second)
		}
		if n := len(w.refs); n > 10 {
			t.Errorf("%d are kept", n)
		}
		if is, _ := w.there("stays"); !is {
			t.Error("who waits is forgotten")
		}
		stays(true)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if w.expect(ctx, "x") {
			t.Error("nobody is there")
		}
	})
}
