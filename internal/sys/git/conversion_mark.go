package git

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"path/filepath"
	"strconv"
	"strings"
)

// ConversionMark tells one way in which git writes files into a work tree from another, as far as that is said outside
// of the tree: in its configuration, and in files of attributes.
type ConversionMark struct {
	User Settings // of the system and the user
	Own  Settings // of the repository; none where it has no say

	FileMode, Symlinks bool // as git takes them
}

// Settings is a hash. Two that are the same say the same; empty, nothing is said.
type Settings string

// ConversionMark asks for it. It starts one process.
func (r Repo) ConversionMark(ctx context.Context) (ConversionMark, error) {
	all, err := r.conversionSettings(ctx)
	if err != nil {
		return ConversionMark{}, err
	}
	c := ConversionMark{FileMode: true, Symlinks: true}
	user, own := &settings{Hash: sha256.New()}, &settings{Hash: sha256.New()}
	for _, s := range all {
		at := user
		if s.own() {
			at = own
		}
		switch on := !s.given || isTrue(s.value); s.name {
		case "core.filemode":
			c.FileMode = on
			at.flag(s, on)
		case "core.symlinks":
			c.Symlinks = on
			at.flag(s, on)
		default:
			at.add(s.String())
		}
	}

	user.add(attributesIn(r.userAttributes(all)))
	if filepath.Separator == '/' {
		user.add(attributesIn("/etc/gitattributes"))
	}
	own.add(attributesIn(r.ownAttributes()))
	c.User, c.Own = user.sum(), own.sum()
	return c, nil
}

// isTrue reads a value as git does.
func isTrue(value string) bool {
	switch strings.ToLower(value) {
	case "true", "yes", "on":
		return true
	case "false", "no", "off", "":
		return false
	}
	n, err := strconv.Atoi(value)
	return err == nil && n != 0
}

// settings collects what is said in one place.
type settings struct {
	hash.Hash
	any bool
}

// add takes what is said into the hash. Nothing, as of a file that is not there, says nothing.
func (s *settings) add(text string) {
	if text != "" {
		fmt.Fprintf(s, "%d %s", len(text), text)
		s.any = true
	}
}

// flag adds a setting that every new repository has, unless it is as there.
func (s *settings) flag(setting setting, usual bool) {
	if !usual {
		s.add(setting.String())
	}
}

func (s *settings) sum() Settings {
	if !s.any {
		return ""
	}
	return Settings(hex.EncodeToString(s.Sum(nil)[:16]))
}
