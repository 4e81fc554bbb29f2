package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"os"
	"strings"
	"time"
)

// writeArchive packs files below a directory. The directory that is only ours comes last, so that removing what
// the archive lists, in its order, leaves nothing of ours and all that is not.
func writeArchive(path, top string, files []file, date time.Time) error {
	pack := packTar
	if strings.HasSuffix(path, ".zip") {
		pack = packZip
	}
	content, err := pack(top+"/", append(files, file{path: docs, mode: 0o755}), date)
	if err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o644)
}

func packTar(top string, files []file, date time.Time) ([]byte, error) {
	var b bytes.Buffer
	compressed := gzip.NewWriter(&b)
	w := tar.NewWriter(compressed)
	for _, f := range files {
		header := &tar.Header{Name: top + f.path, Mode: f.mode, Size: int64(len(f.content)), ModTime: date, Typeflag: tar.TypeReg, Format: tar.FormatUSTAR}
		if strings.HasSuffix(f.path, "/") {
			header.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}

	if err := w.Close(); err != nil {
		return nil, err
	}
	err := compressed.Close()
	return b.Bytes(), err
}

func packZip(top string, files []file, date time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		header := &zip.FileHeader{Name: top + f.path, Method: zip.Deflate, Modified: date}
		header.SetMode(os.FileMode(f.mode))
		if strings.HasSuffix(f.path, "/") {
			header.Method = zip.Store
			header.SetMode(os.ModeDir | os.FileMode(f.mode))
		}
		out, err := w.CreateHeader(header)
		if err != nil {
			return nil, err
		}
		if _, err := out.Write(f.content); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}
