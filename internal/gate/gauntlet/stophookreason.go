package gauntlet

import (
	"fmt"

	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// stopHookReason is Reason as the older tool's hook words it.
func stopHookReason(r *Result, verifies bool) string {
	head := "**GAUNTLET FAILED. YOU MUST FIX ISSUES NOW.**\n\n" +
		"The project's gates did not pass. You cannot stop until the issues are resolved or one of the termination conditions below is met."
	if verifies {
		head += " When you stop again, this hook reruns the gates to verify your fixes."
	}
	head += "\n\n"
	if r.ConsoleLogPath != "" {
		head += fmt.Sprintf("**Console log:** `%s`\nRead this file for full execution output.\n\n", plain.Name(r.ConsoleLogPath))
	}
	rules := instructions
	return plain.Cut(head+failures(r, maxReason-len(head)-len(rules))+rules, maxReason)
}

// instructions are the same for every failure.
const instructions = "**Review trust level: medium.** Fix issues that you reasonably agree with, and everything that could break behaviour or safety. " +
	"Skip issues that are purely stylistic, rest on a misunderstanding, or would do more harm than good when changed.\n\n" +
	"**What to do:**\n" +
	"1. For each failed CHECK: read its log, find the cause and fix the code, not the check.\n" +
	"2. For REVIEW violations: read the review's JSON file and decide for each whether to fix it or to skip it.\n" +
	"3. Record it in that file by changing only `\"status\"` and `\"result\"` of the violation:\n" +
	"   - `\"status\": \"fixed\"`, with what you did in `\"result\"`; the next review verifies it;\n" +
	"   - `\"status\": \"skipped\"`, with the reason in `\"result\"`; only a person may skip critical ones.\n\n" +
	"**Termination conditions:**\n" +
	"- \"Status: Passed\": every gate passed.\n" +
	"- \"Status: Passed with warnings\": what is left was skipped, with a reason.\n" +
	"- \"Status: Retry limit exceeded\": a person takes over.\n"

// failures lists the failed gates with the lines that matter, within room bytes.
func failures(r *Result, room int) string {
	const title, end = "**Failed gates:**\n", "\n"
	failed := r.with(GateFailed)
	body := ""
	for i, gate := range failed {
		// Each gets its share of what is left, so that none is crowded out.
		left := room - len(title) - len(body) - len(end)
		body += failure(&gate, left/(len(failed)-i))
	}
	for _, gate := range r.with(GateCouldNotRun) {
		line := fmt.Sprintf("- %s could not run: %s\n", gate.shown(), plain.Cut(oneLine(gate.Message), 200))
		if len(title)+len(body)+len(line)+len(end) <= room {
			body += line
		}
	}
	return title + body + end
}

// failure is one gate, in at most room bytes.
func failure(gate *GateResult, room int) string {
	text := fmt.Sprintf("- %s: %s\n", gate.shown(), plain.Cut(oneLine(gate.Message), 300))
	if gate.Kind == KindCheck && gate.Log != "" {
		text += fmt.Sprintf("  log: `%s`\n", plain.Name(gate.Log))
	}
	for _, file := range gate.Reviews {
		text += fmt.Sprintf("  review: `%s`\n", plain.Name(file))
	}
	const open, shut = "```\n", "\n```\n"
	space := room - len(text) - len(open) - len(shut)
	details := gate.details()
	if gate.FixInstructions != "" {
		details += "\nHow to fix it:\n" + gate.FixInstructions
	}
	if details != "" && space > 40 {
		text += open + keeper.CutStart(details, space) + shut
	}
	if len(text) > room {
		return plain.Cut(text, max(0, room-1)) + "\n"
	}
	return text
}
