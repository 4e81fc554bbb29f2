package supervisor

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/change"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/ledger"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

// identity is what a review looked at.
type identity struct{ tree, conversation string }

func identityOf(r *Review) identity { return identity{r.Tree, r.Conversation} }

// known reports whether it is exact.
func (i identity) known() bool { return i.tree != "" && i.conversation != "" }

func (s *session) identity(ctx context.Context) identity {
	if !s.Reuse {
		return identity{}
	}
	return identity{tree: s.tree(ctx), conversation: s.conversation()}
}

// tree is the content of the project, or of the repository where there is no
// project; empty where it cannot be told.
func (s *session) tree(ctx context.Context) string {
	root, logDir := "", ""
	if s.Project != nil {
		root, logDir = s.Project.Root, s.Project.Config.Gauntlet.LogDir
	} else if top, found := paths.GitRoot(s.workDir()); found {
		root = top
	}
	if root == "" {
		return ""
	}
	index := ledger.Open(s.stateDir, root).IndexFile()
	tree, err := change.Open(root, logDir, index, s.Environ, s.now).Tree(ctx)
	if err != nil {
		return ""
	}
	return tree.Known()
}

// maxTranscript is more than any session says.
const maxTranscript = 1 << 30

// conversation is what was said so far. The transcript lags, so the last message
// counts beside it.
func (s *session) conversation() string {
	p := s.Payload
	sum := sha256.New()
	fmt.Fprintf(sum, "%q %q %q %q\n", p.SessionID, p.PromptID, p.LastAssistantMessage, p.BackgroundTasks)
	file, err := regular.Open(p.TranscriptPath)
	if err == nil {
		defer file.Close()
		_, err = io.Copy(sum, io.LimitReader(file, maxTranscript))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return hex.EncodeToString(sum.Sum(nil))
}
