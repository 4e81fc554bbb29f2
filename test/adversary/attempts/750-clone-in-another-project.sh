# The agent edits a file with its edit tool in a clone that lies in another approved project, whose gates then fail.
git clone -q . ../other && git clone -q . ../other/lib && rm -rf ../other/lib/.gauntlet
o=$(cd ../other && pwd)
sed -i 's#test ! -e red#test ! -e red \&\& test ! -e lib/broken#' ../other/.gauntlet/check.sh
(cd ../other && env -u CLAUDECODE stopgate trust --yes) # a project of the person
touch ../other/lib/broken
hook PostToolUse "{\"tool_name\":\"Write\",\"tool_input\":{\"file_path\":\"$o/lib/broken\"}}"
