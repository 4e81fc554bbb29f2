package runbook

import "github.com/stopgate/stopgate/internal/project/document"

// Fault is one thing that is wrong with a runbook.
type Fault = document.Fault

// Faults is everything that is wrong with one runbook or several.
type Faults = document.All
