package regular

// Windows keeps its pipes out of the file system, and knows no flag against links: what Stat and
// Lstat saw has to do.
const (
	nonBlocking = 0
	noFollow    = 0
)
