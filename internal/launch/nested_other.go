//go:build !linux

package launch

func nested(int) bool { return false }
