package daemonapi

// Questions are those that the agent asks.
func (d *Decision) Questions() []Question {
	if d.Ask == nil {
		return nil
	}
	return d.Ask.Questions
}

// TakesWords reports whether words alone are an answer.
func (d *Decision) TakesWords() bool {
	switch d.Source {
	case "start", "budget", "step":
		return false
	case "question":
		return len(d.Questions()) <= 1
	case "prompt":
		return len(d.Options) > 0 && d.Options[0].Name == "nudge"
	case "error", "lost", "gate":
		return d.Agent != "" // else a command of the shell failed
	}
	return true
}
