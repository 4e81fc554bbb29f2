//go:build !linux

package process

// EndMarked needs to read other processes' environments.
func EndMarked(string) {}
