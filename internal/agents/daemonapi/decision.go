package daemonapi

// TakesWords reports whether words alone are an answer to a decision.
func (d *Decision) TakesWords() bool {
	switch d.Source {
	case "start", "budget", "step":
		return false
	case "question":
		return d.Ask == nil || len(d.Ask.Questions) <= 1
	case "prompt":
		return len(d.Options) > 0 && d.Options[0].Name == "nudge"
	case "error", "lost", "gate":
		return d.Agent != "" // else a command of the shell failed
	}
	return true
}
