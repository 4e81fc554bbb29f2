package web

// Page is one address of the site that shows something.
type Page struct {
	Path  string // a pattern of net/http, such as /sessions/{id}
	Title string
	// Nav is the name in the navigation, "" for a page that others lead to. The first few stand in the
	// bar at the foot of a phone, the others behind "More".
	Nav string
	// When reports whether it stands in the navigation now; nil is always.
	When func(r *Request) bool
	Icon string // of the navigation: the name of a symbol in templates/icons.html
	// Template is the name of the file in templates that defines "main".
	Template string
	// Scripts and Styles are assets besides those that all pages have.
	Scripts []string
	Styles  []string
	// Read finds what the template shows. Its errors are *api.Error where people are to see more than
	// that something is wrong.
	Read func(r *Request) (any, error)
}

// Action is what a form has done. It answers by leading to a page.
type Action struct {
	Path string
	// Do returns the address of the page that is shown next.
	Do func(r *Request) (next string, err error)
}

// Pages are all there are, in the order of the navigation.
func Pages() []Page {
	return []Page{
		{Path: "/{$}", Title: "Now", Nav: "Now", Icon: "now", Template: "now", Read: readNow},
		{Path: "/inbox", Title: "Inbox", Nav: "Inbox", Icon: "inbox", Template: "inbox", Read: readInbox},
		{Path: "/inbox/{id}", Title: "Decision", Template: "inbox", Read: readDecision},
		{Path: "/sessions", Title: "Sessions", Nav: "Sessions", Icon: "sessions", Template: "sessions", Read: readSessions},
		{
			Path: "/sessions/{id}", Title: "Session", Template: "lane", Read: readLanePage,
			Scripts: []string{"vendor/uplot.js", "charts.js"}, Styles: []string{"vendor/uplot.css"},
		},
		{Path: "/stops/{id}", Title: "Stop", Template: "stop", Read: readStop},
		{Path: "/pipelines", Title: "Pipelines", Nav: "Pipelines", Icon: "pipelines", Template: "pipelines", Read: readPipelines, Scripts: []string{"work.js"}},
		{Path: "/pipelines/{id}", Title: "Pipeline", Template: "pipeline", Read: readPipeline, Scripts: []string{"work.js"}},
		{Path: "/jobs", Title: "Jobs", Nav: "Jobs", Icon: "jobs", Template: "jobs", Read: readJobs, When: inFleet},
		{Path: "/jobs/{id}", Title: "Job", Template: "job", Read: readJob},
		{
			Path: "/gates", Title: "Gates", Nav: "Gates", Icon: "gates", Template: "gates", Read: readGates,
			Scripts: []string{"work.js", "vendor/uplot.js", "charts.js"}, Styles: []string{"vendor/uplot.css"},
		},
		{Path: "/enforcement", Title: "Enforcement", Nav: "Enforcement", Icon: "enforcement", Template: "enforcement", Read: readEnforcement},
		{Path: "/fleet", Title: "Fleet", Nav: "Fleet", Icon: "fleet", Template: "fleet", Read: readFleet, When: inFleet},
		{Path: "/journal", Title: "Journal", Nav: "Journal", Icon: "journal", Template: "journal", Read: readJournal},
	}
}

// Actions are all there are.
func Actions() []Action {
	return []Action{
		{Path: "/sign-out", Do: signOut},
		{Path: "/push", Do: subscribe},
		{Path: "/push/off", Do: unsubscribe},
		{Path: "/inbox/{id}/answer", Do: answer},
		{Path: "/pipelines/{id}/cancel", Do: cancelPipeline},
		{Path: "/pipelines/{id}/resume", Do: resumePipeline},
		{Path: "/jobs/{id}/cancel", Do: cancelJob},
		{Path: "/journal/verify", Do: verify},
		{Path: "/work/{id}/retry", Do: changeWork(Plane.RetryWork)},
		{Path: "/work/{id}/drop", Do: changeWork(Plane.DropWork)},
	}
}
