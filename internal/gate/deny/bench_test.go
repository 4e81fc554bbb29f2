package deny

import "testing"

// A hook that has nothing to do takes two milliseconds.
func BenchmarkDeniedCommand(b *testing.B) {
	patterns := []string{"git push --force*", "git reset --hard*", "rm -rf *", "npm publish*"}
	const line = "cd src && A=1 timeout 10 git commit -m \"$(cat <<'E'\na message\nE\n)\" && go test ./... 2>&1 | tail -20"
	for b.Loop() {
		deniedCommand(patterns, line)
	}
}
