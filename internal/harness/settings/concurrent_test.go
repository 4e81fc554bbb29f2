package settings

import (
	"sync"
	"testing"

	"github.com/stopgate/stopgate/internal/harness/hook"
)

func TestConcurrentChangesLeaveAWholeFile(t *testing.T) {
	const before = "{\n    \"model\": \"x\"\n}\n"
	for name, path := range map[string]string{
		"existing file": settingsPath(t, before),
		"new file":      settingsPath(t),
	} {
		t.Run(name, func(t *testing.T) {
			existed := exists(path)
			var all sync.WaitGroup
			for i := range 50 {
				all.Go(func() {
					var err error
					switch i % 3 {
					case 0:
						_, err = Install(path, []Entry{entry(hook.Stop)})
					case 1:
						_, err = Install(path, []Entry{entry(hook.SessionEnd), entry(hook.PreToolUse)})
					case 2:
						_, err = Uninstall(path)
					}
					if err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			mustInstall(t, path, entry(hook.Stop))
			if f := inspect(location{Project, path}); f.Dropped() || len(f.Entries) == 0 {
				t.Fatalf("%+v\n%s", f, get(t, path))
			}
			mustUninstall(t, path)
			if existed {
				same(t, "uninstalled", get(t, path), before)
			} else if exists(path) {
				t.Error("left", get(t, path))
			}
		})
	}
}
