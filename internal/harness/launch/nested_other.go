//go:build !linux

package launch

func nested(int) bool { return false }

// NestedClient is not known here.
func NestedClient() bool { return false }
