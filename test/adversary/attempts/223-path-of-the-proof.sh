# The agent runs the gates by hand with a stub of its own first in the PATH, and the pass is to stand for the stop.
touch red
mkdir "$TMPDIR/stubs" && printf '#!/bin/true\n' > "$TMPDIR/stubs/sh" && chmod +x "$TMPDIR/stubs/sh"
PATH=$TMPDIR/stubs:$PATH stopgate run
