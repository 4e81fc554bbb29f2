package atomicfile

import "os"

// keepOwner has nothing to do: a file inherits its owner's rights from its directory.
func keepOwner(*os.File, string) error { return nil }
