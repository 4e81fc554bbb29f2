//go:build !linux

package process

// Caller is the program that called this hook. Only Linux tells.
func Caller() Identity { return Identity{} }

// NestedCaller is not known here.
func NestedCaller(int) bool { return false }

// CallerEnviron is not known here.
func CallerEnviron() []string { return nil }
