package regular

// NonBlocking is 0: Windows keeps its pipes out of the file system.
const NonBlocking = 0

// NoFollow is 0: Windows has no flag against links, so what Lstat saw counts.
const NoFollow = 0
