package api

import (
	"strings"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
)

// checkStart finds what could not be run whatever the runbook says.
func checkStart(b daemonapi.Start) error {
	if !daemonapi.IsOwnerID(b.ID) {
		return invalid("field %q must be 16 hex digits, not %.80q", "id", b.ID)
	}
	if b.Command == "" {
		return invalid("field %q is missing", "command")
	}
	if err := checkPlace(b); err != nil {
		return err
	}
	return checkTexts(append([]string{b.Command, b.Runbook}, b.Args...)...)
}

// checkPlace checks where something is to run: in a directory here, or in a project that another machine of the
// fleet knows by its name.
func checkPlace(b daemonapi.Start) error {
	if b.Host == "" && b.ProjectName == "" {
		for name, value := range map[string]string{"project": b.Project, "cwd": b.Cwd} {
			if err := absolute(value); err != nil {
				return invalid("field %q: %v", name, err)
			}
		}
		return nil
	}
	if b.Project != "" || b.Cwd != "" {
		return invalid("with host, the project has its name only: leave out project and cwd")
	}
	for name, value := range map[string]string{"host": b.Host, "project_name": b.ProjectName} {
		if name == "host" && value == "" { // it has come to the machine that maps the name
			continue
		}
		if !daemonapi.IsFleetName(value) {
			return invalid("field %q must have 1 to 32 of the characters a-z, 0-9 and -, not %.80q", name, value)
		}
	}
	return nil
}

// checkTexts refuses what no program can be given.
func checkTexts(texts ...string) error {
	for _, text := range texts {
		if strings.ContainsRune(text, 0) {
			return invalid("the text %.80q contains a NUL byte", text)
		}
	}
	return nil
}

// checkRequest checks the id by which the same request, sent again, is known.
func checkRequest(id string) error {
	if !daemonapi.IsID(id) {
		return invalid("field %q must have 1 to %d of the characters 0-9, a-f and -, not %.80q", "id", daemonapi.MaxID, id)
	}
	return nil
}

func checkCancel(b daemonapi.Cancel) error { return checkRequest(b.ID) }

func checkRemove(b daemonapi.RemoveWorkspace) error {
	if b.Name == "" {
		return invalid("field %q is missing", "name")
	}
	return checkRequest(b.ID)
}

func checkUI(b daemonapi.UIControl) error {
	switch {
	case b.Off && b.SignOut, (b.Off || b.SignOut) && b.Listen != "":
		return invalid("off, sign_out and listen cannot be combined")
	case (b.Cert == "") != (b.Key == ""):
		return invalid("cert and key must be given together")
	case b.Cert != "" && b.Listen == "":
		return invalid("cert and key are for listen")
	}
	for name, path := range map[string]string{"cert": b.Cert, "key": b.Key} {
		if path != "" && absolute(path) != nil {
			return invalid("field %q: %v", name, absolute(path))
		}
	}
	return checkTexts(b.Listen)
}

func checkKill(b daemonapi.Kill) error { return checkRequest(b.ID) }

func checkSwitch(b daemonapi.ScheduleSwitch) error {
	if err := absolute(b.Project); err != nil {
		return invalid("field %q: %v", "project", err)
	}
	return nil
}

// maxAdded is how many items one request may add: they are one event in the store.
const maxAdded = 100

func checkWork(b daemonapi.AddWork) error {
	switch err := absolute(b.Project); {
	case err != nil:
		return invalid("field %q: %v", "project", err)
	case b.Queue == "":
		return invalid("field %q is missing", "queue")
	case len(b.Items) == 0 || len(b.Items) > maxAdded:
		return invalid("field %q must have 1 to %d items, not %d", "items", maxAdded, len(b.Items))
	}
	for _, item := range b.Items {
		if !daemonapi.IsOwnerID(item.ID) {
			return invalid("field %q must be 16 hex digits, not %.80q", "id", item.ID)
		}
	}
	return nil
}

func checkChange(daemonapi.ChangeWork) error { return nil }

func checkWorker(b daemonapi.WorkerSwitch) error {
	if b.Name == "" {
		return invalid("field %q is missing", "name")
	}
	return checkSwitch(daemonapi.ScheduleSwitch{Project: b.Project})
}

func checkStop(daemonapi.Stop) error { return nil }

func checkPrune(daemonapi.Prune) error { return nil }

func checkResume(b daemonapi.Resume) error {
	texts := []string{b.Message}
	for name, value := range b.Vars {
		texts = append(texts, name, value)
	}
	if err := checkTexts(texts...); err != nil {
		return err
	}
	return checkRequest(b.ID)
}

func checkSend(b daemonapi.Send) error {
	if err := checkRequest(b.ID); err != nil {
		return err
	}
	if strings.TrimSpace(b.Message) == "" {
		return invalid("field %q is missing", "message")
	}
	return checkTexts(b.Message)
}

func checkAnswer(b daemonapi.Answer) error {
	if err := checkRequest(b.ID); err != nil {
		return err
	}
	if b.Option == "" && b.Message == "" && len(b.Answers) == 0 {
		return invalid("an answer needs an option or a message")
	}
	return checkTexts(append(b.Answers, b.Option, b.Message)...)
}

func checkBackup(b daemonapi.Backup) error {
	if err := absolute(b.Path); err != nil {
		return invalid("field %q: %v", "path", err)
	}
	return nil
}
