package atomicfile

// Windows has no mode bits to set on an open file.
const chmodUnsupported = true

// Windows cannot open a directory for syncing; NTFS journals the rename.
func syncDir(string) error { return nil }
