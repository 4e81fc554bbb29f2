package daemonapi

import (
	"context"
	"strconv"
)

// Conversation is the end of an agent's conversation, of about so many messages.
func (c *Client) Conversation(ctx context.Context, agent string, messages int) (Conversation, error) {
	return get[Conversation](ctx, c, agentPath(agent)+"/conversation"+query("limit", strconv.Itoa(messages)))
}

// Sessions are those of Claude Code in tmux, the one whose state changed last first.
func (c *Client) Sessions(ctx context.Context, f Filter) ([]Session, error) {
	return list[Session](ctx, c, "/v1/sessions"+f.query(), f.Limit)
}

// Seen are the sessions of Claude Code, in tmux or not, the one whose state changed last first.
func (c *Client) Seen(ctx context.Context, f Filter) ([]Seen, error) {
	return list[Seen](ctx, c, "/v1/seen"+f.query(), f.Limit)
}

// SessionQueues are the queues of a session in tmux, also the last one that has ended.
func (c *Client) SessionQueues(ctx context.Context, session string) ([]SessionQueue, error) {
	return get[[]SessionQueue](ctx, c, "/v1/queues"+query("session", session, "all", flag(true)))
}

// Gates are the stops that gates have judged, of one session of Claude Code or, with "", of all, the
// newest first.
func (c *Client) Gates(ctx context.Context, session string, f Filter) ([]GateRun, error) {
	return get[[]GateRun](ctx, c, "/v1/gates"+f.query("session", session))
}

// SomeWork are the items of queues that a filter lets through, the newest first.
func (c *Client) SomeWork(ctx context.Context, f Filter) ([]WorkItem, error) {
	return list[WorkItem](ctx, c, "/v1/work"+f.query(), f.Limit)
}
