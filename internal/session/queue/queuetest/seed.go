// Package queuetest has the queue that the specification shows.
package queuetest

import (
	"encoding/json"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/checktest"
)

// Seed is that queue, character for character: nothing is typed yet.
const Seed = `{
  "commands": [
    {
      "id": 1,
      "command": "/clear",
      "status": "active",
      "trigger": { "hook": "Stop", "sub": null },
      "awaits": { "hook": "SessionStart", "sub": "clear" },
      "result": null,
      "completed_at": null
    },
    {
      "id": 2,
      "command": "/gsd:plan-phase 3",
      "status": "pending",
      "trigger": { "hook": "SessionStart", "sub": "clear" },
      "awaits": { "hook": "Stop", "sub": null },
      "result": null,
      "completed_at": null
    }
  ]
}`

// Plain is a queue without its stopgate objects.
func Plain(t testing.TB, queue string) map[string]any {
	t.Helper()
	var doc map[string]any
	checktest.OK(t, json.Unmarshal([]byte(queue), &doc))
	delete(doc, "stopgate")
	for _, c := range doc["commands"].([]any) {
		delete(c.(map[string]any), "stopgate")
	}
	return doc
}
