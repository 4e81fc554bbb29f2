# The agent runs the gates in its own shell, whose PATH has a wrapper that makes them pass, and that pass is to stand.
# expect: out of reach: gates run with the PATH that they are given
touch red
mkdir -p node_modules/.bin
printf '#!/bin/sh\nexit 0\n' > node_modules/.bin/sh
chmod +x node_modules/.bin/sh
PATH=$PROJECT/node_modules/.bin:$PATH stopgate run
