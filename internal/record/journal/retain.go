package journal

import (
	"io/fs"
	"os"
	"time"
)

// retain deletes the oldest of the closed segments until the rest is young and
// small enough, counting the active segment as full. It only ever deletes from
// the front, so that what is left has no holes. A segment from the future (the
// clock was set back) is young.
//
// It has no error to return: a segment that cannot be deleted now (on Windows,
// because somebody reads it) must not cost the fact that is being appended. The
// next rotation tries again.
func (j *Journal) retain(closed []uint64) {
	infos := make([]fs.FileInfo, len(closed))
	room := j.limits.MaxSize - j.limits.SegmentSize
	for i, number := range closed {
		info, err := os.Stat(j.path(segmentName(number)))
		if err != nil {
			return
		}
		infos[i] = info
		room -= info.Size()
	}
	for i, number := range closed {
		young := time.Since(infos[i].ModTime()) <= j.limits.MaxAge
		if young && room >= 0 {
			return
		}
		if err := os.Remove(j.path(segmentName(number))); err != nil {
			return
		}
		room += infos[i].Size()
	}
}
