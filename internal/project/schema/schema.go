// Package schema is the JSON Schema of runbooks. It stands alone so that the program that
// prints it need not link what reads them.
package schema

import _ "embed"

//go:embed runbook.json
var runbook string

// Runbook is the JSON Schema (2020-12), for editors that know TOML.
func Runbook() []byte { return []byte(runbook) }
