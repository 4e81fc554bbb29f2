package config

import (
	"strconv"

	"github.com/stopgate/stopgate/internal/project/document"
)

// maxFaults is more than a person fixes in one go.
const maxFaults = 100

// LoadGates reads the gates in dir, which is a project's .gauntlet or an approved
// copy of it, and puts them under the entry points of its config.yml. Faults name
// the files as if dir were shown. They cover every file in checks/ and reviews/,
// whether or not an entry point leads to it.
//
// Without a project only the files are looked at.
func LoadGates(dir, shown string, project *Project) (*Gates, error) {
	if project == nil {
		project = &Project{}
	}
	l := &loader{dir: dir, shown: shown, preference: project.Gauntlet.CLI.DefaultPreference}
	l.readChecks()
	l.readReviews()
	gates := &Gates{}
	for _, draft := range project.entryPoints {
		gates.EntryPoints = append(gates.EntryPoints, l.entryPoint(draft))
	}
	if err := l.err(); err != nil {
		return nil, err
	}
	return gates, nil
}

// loader reads gates. It goes on after a fault; a gate with a fault is there all
// the same, so that its name is not unknown as well.
type loader struct {
	dir, shown string
	preference []string
	checks     map[string]*checkDraft
	reviews    map[string]*Review
	faults     []document.Fault
}

func (l *loader) fault(faults ...document.Fault) { l.faults = append(l.faults, faults...) }

func (l *loader) err() error {
	all := document.InOrder(l.faults)
	if len(all) == 0 {
		return nil
	}
	if hidden := len(all) - maxFaults; hidden > 0 {
		note := document.OfFile(l.shown, strconv.Itoa(hidden)+" more errors are not shown", "")
		all = append(all[:maxFaults:maxFaults], note)
	}
	return &document.Faults{All: all}
}

func (l *loader) readChecks() {
	l.checks = map[string]*checkDraft{}
	l.each(checksFolder, func(file gateFile, data []byte) error {
		check := newCheck(file.gate)
		l.checks[file.gate] = check
		err := parseCheck(file.shown, data, check)
		l.instruct(check)
		return err
	})
}

func (l *loader) readReviews() {
	l.reviews = map[string]*Review{}
	l.each(reviewsFolder, func(file gateFile, data []byte) error {
		review := newReview(file.gate, l.preference)
		l.reviews[file.gate] = review
		if file.extension == ".md" {
			return parseReviewMarkdown(file.shown, data, review)
		}
		return parseReviewYAML(file.shown, data, review)
	})
}

// each calls parse with every file of a folder that can be read.
func (l *loader) each(folder string, parse func(gateFile, []byte) error) {
	files, faults := listGates(l.dir, l.shown, folder)
	l.fault(faults...)
	for _, file := range files {
		data, err := read(file.path, file.shown)
		if err == nil {
			err = parse(file, data)
		}
		if found, ok := err.(*document.Faults); ok {
			l.fault(found.All...)
		}
	}
}

// instruct reads the fix instructions of a check.
func (l *loader) instruct(check *checkDraft) {
	file := check.fix.text
	if file == "" {
		return
	}
	text, wrong := readFixInstructions(l.dir, file)
	if wrong != "" {
		l.fault(check.fix.fault("fix_instructions: "+quote(file)+" "+wrong, "the path is relative to "+l.shown))
	}
	check.FixInstructions = text
}
