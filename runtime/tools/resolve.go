package tools

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// maxLinks is how many links one path may pass through; Linux allows as many.
const maxLinks = 40

// maxPath is the longest path taken, in bytes: PATH_MAX of Linux, on every
// system alike.
const maxPath = 4096

// maxShown is how much of a path an error repeats, in bytes.
const maxShown = 200

// errOutside marks a path that leaves the workspace.
var errOutside = errors.New("outside the workspace")

// target is where a path of a call leads.
type target struct {
	name  string // relative to the workspace, with slashes, free of links; "." is the workspace
	shown string // the path as an error names it: relative, as the model wrote it
}

// resolve follows path, as the model wrote it, component by component inside
// the workspace. Absolute paths and link targets are taken relative when they
// lie under one spelling of the workspace, and are errOutside when they do not,
// as is a ".." that climbs above it. Components that do not exist are kept: the
// caller's own access meets them. What the result names is again opened through
// os.Root, so a link put in its way later leads nowhere else.
func (w *Workspace) resolve(given string) (target, error) {
	todo, ok := w.relative(given)
	if !ok {
		return target{}, errOutside
	}
	at := target{shown: shorten(path.Join(append([]string{"."}, todo...)...))}
	if len(given) > maxPath {
		return at, errNameTooLong
	}
	var real []string
	for links := 0; len(todo) > 0; {
		component := todo[0]
		todo = todo[1:]
		if component == ".." {
			if len(real) == 0 {
				return at, errOutside
			}
			real = real[:len(real)-1]
			continue
		}
		link, err := w.readLink(path.Join(path.Join(real...), component))
		if err != nil {
			return at, err
		}
		if link == "" {
			real = append(real, component)
			continue
		}
		if links++; links > maxLinks {
			return at, errTooManyLinks
		}
		behind, ok := w.relative(link)
		if !ok {
			return at, errOutside
		}
		if absolute(link) {
			real = nil
		}
		todo = slices.Concat(behind, todo)
	}
	at.name = path.Join(append([]string{"."}, real...)...)
	return at, nil
}

// readLink returns the target of the link at name, "" if there is something
// else or nothing. It is errOutside when that cannot be known.
func (w *Workspace) readLink(name string) (string, error) {
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return "", errOutside // reserved names and streams on Windows
	}
	info, err := w.root.Lstat(name)
	if err == nil && info.Mode()&fs.ModeSymlink == 0 {
		return "", nil
	}
	link := ""
	if err == nil {
		link, err = w.root.Readlink(name)
	}
	if err != nil && (errors.Is(err, w.escapes) || kindOf(err) == "") {
		return "", errOutside
	}
	return link, nil
}

// relative returns the components of given relative to the workspace: of an
// absolute path what follows the workspace's own, as the real path or as it was
// given. It reports false for an absolute path elsewhere; case is never folded,
// since folding here would let more in.
func (w *Workspace) relative(given string) ([]string, bool) {
	parts := components(given)
	if !absolute(given) {
		return parts, true
	}
	for _, anchor := range w.anchors {
		if len(parts) >= len(anchor) && slices.Equal(parts[:len(anchor)], anchor) {
			return parts[len(anchor):], true
		}
	}
	return nil, false
}

// absolute reports that given does not start at the workspace; on Windows that
// includes \path and C:path.
func absolute(given string) bool {
	slashed := filepath.ToSlash(given)
	return strings.HasPrefix(slashed, "/") || filepath.VolumeName(given) != ""
}

// components splits a path and drops what means nothing.
func components(given string) []string {
	parts := strings.Split(filepath.ToSlash(given), "/")
	return slices.DeleteFunc(parts, func(part string) bool { return part == "" || part == "." })
}

// shorten cuts a path for an error text.
func shorten(shown string) string {
	if len(shown) <= maxShown {
		return shown
	}
	return shown[:cutBefore(shown, maxShown)] + "…"
}
