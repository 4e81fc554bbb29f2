package gates

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/gauntlet"
	"github.com/stopgate/stopgate/internal/sys/atomicfile"
)

// report is a file that a run leaves for other programs.
type report struct {
	path   string
	encode func(*gauntlet.Result) []byte
}

// reportsFor decides by their names what the files are to hold.
func reportsFor(paths []string) ([]report, error) {
	var reports []report
	for _, path := range paths {
		r := report{path: path}
		switch filepath.Ext(path) {
		case ".xml":
			r.encode = junit
		case ".md":
			r.encode = markdown
		default:
			return nil, term.BadUsage(fmt.Errorf("--report %s: its name must end in .xml (JUnit) or .md (Markdown)", path), "for example: --report gates.xml")
		}
		if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
			return nil, term.BadUsage(fmt.Errorf("--report %s: there is no such folder", path), "make it first: mkdir -p "+term.Quote(filepath.Dir(path)))
		}
		reports = append(reports, r)
	}
	return reports, nil
}

func (r report) write(result *gauntlet.Result) error {
	return atomicfile.Write(r.path, r.encode(result), 0o644)
}
