package change

// Meanwhile lists the files of the project in which two looks at its tree differ, and those of them that are gone. What an
// editor keeps beside an open file is left out. Changed may be true without names: then the later look failed.
func (w *Worktree) Meanwhile(was, is Tree) (names, gone []string, changed bool) {
	if is.Mark() == "" {
		return nil, nil, true
	}
	for _, p := range differing(was.files, is.files) {
		name := p.name()
		if !w.holds(name) || isEditors(name) {
			continue
		}
		names = append(names, name)
		if p.is.path == "" {
			gone = append(gone, name)
		}
	}
	return names, gone, len(names) > 0
}
