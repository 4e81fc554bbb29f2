package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
)

//go:embed assets
var assetFiles embed.FS

// asset is a file that all browsers get alike. It holds nothing that is secret, so that no sign-in is
// needed for it: browsers fetch some of these without cookies.
type asset struct {
	url     string // with its hash, so that it may be kept for ever
	kind    string
	content []byte
	zipped  []byte // nil where that does not pay
}

// fixed are the assets whose addresses browsers keep, without a hash.
var fixed = map[string]string{
	"/sw.js": "sw.js", "/manifest.webmanifest": "manifest.webmanifest", "/favicon.ico": "icon.svg",
	"/icon.svg": "icon.svg", "/icon-192.png": "icon-192.png", "/icon-512.png": "icon-512.png", "/apple-touch-icon.png": "icon-192.png",
}

var assets = sync.OnceValue(func() map[string]*asset {
	found := map[string]*asset{}
	files, _ := fs.Sub(assetFiles, "assets") // it is there: it is embedded
	_ = fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || kindOf(name) == "" {
			return err
		}
		content, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(content)
		found[name] = &asset{
			url: "/assets/" + hex.EncodeToString(sum[:6]) + "/" + name, kind: kindOf(name), content: content, zipped: zip(content),
		}
		return nil
	})
	return found
})

// kindOf is the content type of a file that browsers get, "" for others.
func kindOf(name string) string {
	switch path.Ext(name) {
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".webmanifest":
		return "application/manifest+json"
	case ".css", ".svg", ".png":
		return mime.TypeByExtension(path.Ext(name))
	}
	return ""
}

// zip is a content in gzip, nil where it would hardly be shorter.
func zip(content []byte) []byte {
	const least = 1 << 10
	if len(content) < least {
		return nil
	}
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed+3)
	_, _ = w.Write(content) // a buffer takes everything
	_ = w.Close()
	if b.Len() > len(content)*9/10 {
		return nil
	}
	return b.Bytes()
}

// assetURL is the address of a file in assets.
func assetURL(name string) string {
	if a := assets()[name]; a != nil {
		return a.url
	}
	panic("no asset " + name)
}

// findAsset finds the asset of a path, and whether it stays the same for ever under that.
func findAsset(urlPath string) (a *asset, forever bool) {
	if name, ok := fixed[urlPath]; ok {
		return assets()[name], false
	}
	rest, is := strings.CutPrefix(urlPath, "/assets/")
	_, name, has := strings.Cut(rest, "/")
	if !is || !has {
		return nil, false
	}
	if a = assets()[name]; a == nil || a.url != urlPath {
		return nil, false
	}
	return a, true
}

func (a *asset) serve(w http.ResponseWriter, r *http.Request, forever bool) {
	w.Header().Set("Cache-Control", "no-cache")
	if forever {
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	send(w, r, http.StatusOK, a.kind, a.content, a.zipped)
}

// send answers with a content, zipped where there is that and the browser takes it.
func send(w http.ResponseWriter, r *http.Request, status int, kind string, content, zipped []byte) {
	h := w.Header()
	h.Set("Content-Type", kind)
	if zipped != nil {
		h.Add("Vary", "Accept-Encoding")
		if takesGzip(r) {
			h.Set("Content-Encoding", "gzip")
			content = zipped
		}
	}
	h.Set("Content-Length", strconv.Itoa(len(content)))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(content) // a browser that is gone needs no answer
	}
}

func takesGzip(r *http.Request) bool {
	for part := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, quality, _ := strings.Cut(strings.TrimSpace(part), ";")
		if name == "gzip" && strings.ReplaceAll(quality, " ", "") != "q=0" {
			return true
		}
	}
	return false
}
