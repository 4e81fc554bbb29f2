package atomicfile

// Windows has no mode bits to set on an open file.
const chmodUnsupported = true

// Windows cannot open a directory for syncing; NTFS journals the rename.
func SyncDir(string) error { return nil }
