# The agent sets up a project of its own in a folder of this one, with gates that pass, and stops there.
touch red
mkdir -p sub/.gauntlet && printf 'entry_points:\n  - path: .\n    checks: [{name: easy, command: "true"}]\n' > sub/.gauntlet/config.yml
echo "{\"cwd\":\"$PROJECT/sub\"}" > "$STOP"
