package regular

// NonBlocking is 0: Windows keeps its pipes out of the file system.
const NonBlocking = 0

// Windows has no flag against links: what Lstat saw counts.
const noFollow = 0
