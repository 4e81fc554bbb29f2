package pictures

import (
	"flag"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

var check = checktest.OK

// update records the pictures; without it the tests look at the ones that are there.
var update = flag.Bool("update", false, "record the pictures of docs/pictures")

// folder is where the pictures are.
const folder = "../../docs/pictures"

func TestMain(m *testing.M) {
	environtest.Clean()
	m.Run()
}
