# A clone without old blobs whose remote is gone.
git -C "$PROJECT" config uploadpack.allowFilter true
git clone -q --filter=blob:none --no-checkout "file://$PROJECT" ../c && cd ../c && git sparse-checkout set --no-cone /main.txt /.gauntlet /.gitignore && git checkout -q main
env -u CLAUDECODE stopgate init --yes --local # a person
c=$PWD
hook SessionStart "{\"session_id\":\"next\",\"source\":\"startup\",\"cwd\":\"$c\"}"
hook UserPromptSubmit "{\"session_id\":\"next\",\"prompt\":\"do it\",\"cwd\":\"$c\"}"
echo "{\"session_id\":\"next\",\"cwd\":\"$c\"}" > "$STOP"
git remote set-url origin file:///nowhere
touch red
