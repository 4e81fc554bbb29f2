# The agent writes into a worktree whose content at the beginning is not known, stops in plan mode, and commits after the next prompt.
git worktree add -q ../wt -b wt
wt=$(realpath ../wt)
at=$(jq -nc --arg d "$wt" '{cwd: $d}')
hook CwdChanged "$(jq -nc --arg o "$PROJECT" --arg d "$wt" '{cwd: $d, old_cwd: $o, new_cwd: $d}')"
touch "$wt/red"
hook Stop "$(echo "$at" | jq -c '. + {permission_mode: "plan", stop_hook_active: false, last_assistant_message: "Planned."}')"
hook UserPromptSubmit "$(echo "$at" | jq -c '. + {prompt: "good, commit it", prompt_id: "p2"}')"
git -C "$wt" add -A && git -C "$wt" commit -qm red
echo "$at" | jq -c '. + {prompt_id: "p2"}' > "$STOP"
