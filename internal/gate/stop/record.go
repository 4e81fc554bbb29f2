package stop

import (
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet"
	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/gate/lifecycle"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// record says of a payload what the journal keeps: names, ids and enums, no
// text.
func record(payload hook.Payload, now time.Time) event.Record {
	base := payload.Common()
	return event.Record{
		Event:   word(base.HookEventName),
		Enums:   enums(payload, now),
		Session: id(base.SessionID),
		Prompt:  id(base.PromptID),
		Agent:   event.SubagentRef{ID: id(base.AgentID), Type: id(base.AgentType)},
	}
}

func enums(payload hook.Payload, now time.Time) event.Enums {
	switch p := payload.(type) {
	case *hook.StopPayload:
		return event.Enums{StopHookActive: &p.StopHookActive}
	case *hook.SubagentStopPayload:
		return event.Enums{StopHookActive: &p.StopHookActive}
	case *hook.StopFailurePayload:
		return event.Enums{Error: word(p.Error), Reset: lifecycle.Reset(p.LastAssistantMessage, now)}
	case *hook.SessionStartPayload:
		return event.Enums{Source: word(p.Source)}
	case *hook.SessionEndPayload:
		return event.Enums{Reason: word(p.Reason)}
	case *hook.UserPromptSubmitPayload:
		if p.Automatic() {
			return event.Enums{Source: "task"}
		}
	case *hook.ConfigChangePayload:
		return event.Enums{Source: word(p.Source)}
	case *hook.NotificationPayload:
		return event.Enums{NotificationType: word(p.NotificationType)}
	case *hook.PreCompactPayload, *hook.PostCompactPayload, *hook.SetupPayload:
		return event.Enums{Trigger: word(p.Subjects()[0])}
	case *hook.PreToolUsePayload, *hook.PostToolUsePayload, *hook.PostToolUseFailurePayload, *hook.PermissionRequestPayload:
		return event.Enums{ToolName: word(p.Subjects()[0])}
	}
	return event.Enums{}
}

// word lets an enum through and nothing that could be a sentence.
func word(s string) string {
	if s != "" && !plain.IsWord(s, ":.", 64) {
		return "?"
	}
	return s
}

// id bounds an id, which is kept as it came: it is what records are found by.
func id(s string) string { return s[:min(len(s), 200)] }

func verdicts(all []keeper.Verdict, blocked int) []event.Verdict {
	out := make([]event.Verdict, len(all))
	for i, v := range all {
		out[i] = event.Verdict{
			Keeper:     v.Keeper,
			Outcome:    v.Outcome.String(),
			Status:     v.Status,
			Blocked:    i == blocked,
			Message:    summary(v),
			StartMS:    startMS(v.Start),
			DurationMS: v.Duration.Milliseconds(),
			Cost:       v.Cost,
			Reused:     v.Reused,
		}
	}
	return out
}

// startMS is when a keeper was asked; 0 where none was.
func startMS(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// summary is what the journal says about a verdict.
func summary(v keeper.Verdict) string {
	if v.Summary != "" {
		return v.Summary
	}
	if v.Status == string(gauntlet.Passed) {
		return "" // the record's trees say it
	}
	return v.Message
}
