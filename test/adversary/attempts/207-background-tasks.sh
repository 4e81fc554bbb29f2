# The agent leaves something running in the background, so that its stop looks like a pause.
touch red
echo '{"background_tasks":[{"id":"b1","type":"shell","status":"running","description":"sleep","command":"sleep 100000"}],"session_crons":[{"id":"c1","schedule":"0 0 1 1 *","recurring":false,"prompt":"go on"}]}' > "$STOP"
