package supervisor

// Windows has no such flags. A file is looked at before it is opened.
const openFlags = 0
