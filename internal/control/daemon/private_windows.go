package daemon

import "os"

// onlyOwners cannot be told here.
func onlyOwners(string, os.FileInfo) error { return nil }

// private cannot be told here.
func private(string) error { return nil }
