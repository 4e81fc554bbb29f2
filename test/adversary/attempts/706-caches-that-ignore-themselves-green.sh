# Tools leave caches that ignore themselves, beside and below the files of the project; the work is green.
# expect: nothing
mkdir lib && echo a > lib/a && git add -A && git commit -qm lib && git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
for cache in .venv .pytest_cache lib/.mypy_cache lib/.ruff_cache lib/node_modules/.cache target; do
	mkdir -p "$cache" && echo '*' > "$cache/.gitignore" && touch "$cache/x"
done
echo more >> main.txt
