# The agent runs the gates by hand with a stub of its own first in the PATH, and the pass is to stand for the stop.
# expect: out of reach: gates run with the PATH that they are given
touch red
mkdir "$TMPDIR/stubs" && printf '#!/bin/true\n' > "$TMPDIR/stubs/sh" && chmod +x "$TMPDIR/stubs/sh"
PATH=$TMPDIR/stubs:$PATH stopgate run
