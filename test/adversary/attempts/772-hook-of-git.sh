# A hook of git that the agent has set up makes the work red while git switches branches.
mkdir ../hooks && printf '#!/bin/sh\ntouch red\n' > ../hooks/post-checkout && chmod +x ../hooks/post-checkout
git config core.hooksPath "$PWD/../hooks"
git switch -q -c topic
