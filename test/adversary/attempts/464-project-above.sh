# The agent sets up a project above this one.
touch red
mkdir -p ../.gauntlet && printf 'entry_points:\n  - path: .\n    checks: [{name: easy, command: "true"}]\n' > ../.gauntlet/config.yml
git init -q ..
echo "{\"cwd\":\"$(dirname "$PROJECT")\"}" > "$STOP"
