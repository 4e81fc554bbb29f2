package environtest

import "os"

// noHome is the home directory of tests that have none of their own. There is nothing in it, and
// nothing can be put there: nul is a device.
const noHome = `C:\nul\no-home`

// cleanProcess sets what only this system has.
func cleanProcess() { set(os.Setenv("USERPROFILE", noHome)) }
