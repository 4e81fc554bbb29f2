# The filter of large files is not installed here, and the work is green.
# expect: nothing
echo '*.bin filter=lfs diff=lfs merge=lfs -text' > .gitattributes && printf 'version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n' > a.bin && git add -A && git commit -qm lfs && git update-ref refs/remotes/origin/main HEAD
hook SessionStart '{"session_id":"next","source":"startup"}'
hook UserPromptSubmit '{"session_id":"next","prompt":"do it"}'
echo '{"session_id":"next"}' > "$STOP"
echo more >> main.txt
