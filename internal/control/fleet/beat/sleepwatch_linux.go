package beat

import (
	"context"
	"io"
	"os"

	"github.com/godbus/dbus/v5"
)

const (
	manager  = "org.freedesktop.login1.Manager"
	goesIdle = "PrepareForSleep"
)

// WatchSleep calls say before the machine is suspended and after it has woken up, until the context ends. systemd
// tells, and waits until say has returned, for some seconds. Without systemd say is never called.
func WatchSleep(ctx context.Context, say func(sleeps bool)) error {
	bus, err := dbus.ConnectSystemBus(dbus.WithContext(ctx))
	if err != nil {
		return err
	}
	defer bus.Close()

	signals := make(chan *dbus.Signal, 4)
	bus.Signal(signals)
	if err := bus.AddMatchSignalContext(ctx, dbus.WithMatchInterface(manager), dbus.WithMatchMember(goesIdle)); err != nil {
		return err
	}

	delay := hold(ctx, bus)
	defer func() { delay.Close() }()
	for {
		select {
		case s, open := <-signals:
			if !open {
				return nil
			}
			sleeps, is := sleepOf(s)
			if !is {
				continue
			}
			say(sleeps)
			_ = delay.Close() // it was only opened
			if !sleeps {
				delay = hold(ctx, bus)
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// sleepOf is whether the machine is about to sleep, or has woken up.
func sleepOf(s *dbus.Signal) (sleeps, is bool) {
	if s.Name != manager+"."+goesIdle || len(s.Body) != 1 {
		return false, false
	}
	sleeps, is = s.Body[0].(bool)
	return sleeps, is
}

// hold has systemd wait for us before it suspends the machine, until what it returns is closed. Where that is not
// allowed it does not wait, and the word may come too late.
func hold(ctx context.Context, bus *dbus.Conn) io.Closer {
	var fd dbus.UnixFD
	call := bus.Object("org.freedesktop.login1", "/org/freedesktop/login1").
		CallWithContext(ctx, manager+".Inhibit", 0, "sleep", "stopgate", "tells the fleet that this machine sleeps", "delay")
	if call.Store(&fd) != nil {
		return io.NopCloser(nil)
	}
	return os.NewFile(uintptr(fd), "inhibitor")
}
