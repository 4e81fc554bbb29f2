//go:build !linux && !darwin

package journal

func bootID() string { return "" }
