//go:build !unix

package environtest

func cleanProcess() {}
