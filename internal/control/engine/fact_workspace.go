package engine

// What becomes of workspaces. Name is the agent whose own it is; the owner's has none.
type (
	// WorkspaceWanted is a workspace that is to be made.
	WorkspaceWanted struct {
		Name string `json:"name,omitempty"`
		Workspace
	}
	// WorkspaceMade is one that is there: the effect is done.
	WorkspaceMade struct {
		Key    string `json:"key"`
		Name   string `json:"name,omitempty"`   // of the fact
		Commit string `json:"commit,omitempty"` // that it was made from
		Note   string `json:"note,omitempty"`   // what a person should know about it
		Found  bool   `json:"found,omitempty"`  // it was there already
	}
	// WorkspaceFailed is one that cannot be made. Nothing is left of it.
	WorkspaceFailed struct {
		Name string `json:"name,omitempty"`
		Why  string `json:"why"`
	}
	// WorkspaceLeft is one that nothing runs in any more. Where Kept says why, it stays; else it is
	// to be removed.
	WorkspaceLeft struct {
		Name string `json:"name,omitempty"`
		Key  string `json:"key,omitempty"` // of the effect that removes it
		Kept string `json:"kept,omitempty"`
	}
	// WorkspaceRemoved is one that was removed, or that has work in it which would be lost: then
	// Kept says what. Either way the effect is done.
	WorkspaceRemoved struct {
		Key  string `json:"key"`
		Name string `json:"name,omitempty"` // of the fact
		Kept string `json:"kept,omitempty"`
		Note string `json:"note,omitempty"` // what is left of it, such as its branch
	}
)

func (WorkspaceWanted) EventType() string  { return "workspace:wanted" }
func (WorkspaceMade) EventType() string    { return "workspace:made" }
func (WorkspaceFailed) EventType() string  { return "workspace:failed" }
func (WorkspaceLeft) EventType() string    { return "workspace:left" }
func (WorkspaceRemoved) EventType() string { return "workspace:removed" }

func (f WorkspaceWanted) apply(o *Owner, s *Step) {
	o.Workspaces = with(o.Workspaces, f.Name, f.Workspace)
}

func (f WorkspaceMade) apply(o *Owner, s *Step) {
	o.closeEffect(f.Key, false)
	if w := o.Workspaces[f.Name]; w.Key == f.Key {
		w.State, w.Had, w.Note = WorkspaceInUse, true, f.Note
		if w.Commit == "" {
			w.Commit = f.Commit
		}
		o.Workspaces = with(o.Workspaces, f.Name, w)
	}
}

func (f WorkspaceFailed) apply(o *Owner, s *Step) {
	w := o.Workspaces[f.Name]
	w.State = WorkspaceFailing // why, its step says
	if w.Had {                 // its branch is: the next try goes on with that
		w.State = WorkspaceGone
	}
	o.Workspaces = with(o.Workspaces, f.Name, w)
}

func (f WorkspaceLeft) apply(o *Owner, s *Step) {
	w := o.Workspaces[f.Name]
	w.State, w.Key, w.Kept = WorkspaceRemoving, f.Key, f.Kept
	if f.Kept != "" {
		w.State = WorkspaceStays
	}
	o.Workspaces = with(o.Workspaces, f.Name, w)
}

func (f WorkspaceRemoved) apply(o *Owner, s *Step) {
	o.closeEffect(f.Key, false)
	if w := o.Workspaces[f.Name]; w.Key == f.Key {
		w.State, w.Kept, w.Note = WorkspaceGone, f.Kept, f.Note
		if f.Kept != "" {
			w.State = WorkspaceStays
		}
		if !w.Had { // it was never used: a person may resume with another name
			w.State = WorkspaceFailing
		}
		o.Workspaces = with(o.Workspaces, f.Name, w)
	}
}
