package top

import (
	"path/filepath"
	"testing"

	"github.com/stopgate/stopgate/internal/cli/goldentest"
	"github.com/stopgate/stopgate/test/pictures"
)

// The picture in the documents shows what is drawn today.
func TestPictureIsUpToDate(t *testing.T) {
	const columns, lines = 152, 18
	s := after(busy(columns, lines), Shown{Ref{OwnerRow, "c84a2cdb00000001"}, Detail{Owner: waitingOwner()}, nil})
	svg := pictures.SVG("stopgate top: what needs a person comes first", columns, []pictures.Frame{{Screen: pictures.Parse(Screen(&s))}})
	goldentest.CheckFile(t, filepath.Join("..", "..", "..", "docs", "pictures", "top.svg"), svg)
}
