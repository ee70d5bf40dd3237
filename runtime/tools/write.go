package tools

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"

	"github.com/tapetree/tapetree/runtime"
)

// newFile and newFolder are the modes of what the tools create, before the
// umask.
const (
	newFile   fs.FileMode = 0o644
	newFolder fs.FileMode = 0o755
)

// WriteFile makes the file at path hold content, with the folders above it. A
// file that is there is replaced in one step and keeps its mode. The result is
// one line that counts the bytes. Failures are for the model.
func (w *Workspace) WriteFile(ctx context.Context, path, content string) (string, error) {
	return w.writeFile(ctx, nil, path, content)
}

func (w *Workspace) writeFile(ctx context.Context, seen *reads, path, content string) (string, error) {
	at, err := w.resolve(path)
	if err != nil {
		return "", w.failure(runtime.AccessWrite, "write", at, err)
	}
	defer w.lock(at.name)()
	clash, err := w.changed(ctx, seen, at.name)
	existed := false
	if err == nil {
		existed, err = w.replace(at.name, []byte(content), nil)
	}
	if err != nil {
		return "", w.failure(runtime.AccessWrite, "write", at, err)
	}
	seen.note(at.name, sha256.Sum256([]byte(content)))
	verb, warning := "Created", ""
	if existed {
		verb = "Replaced"
	}
	if clash {
		warning = " It had changed since you read it, and that change is gone."
	}
	return fmt.Sprintf("%s %s: %s.%s", verb, at.shown, counted(len(w.options.Fold.Fold(content)), "byte"), warning), nil
}

// changed reports that the file at name is not what the agent saw of it last.
func (w *Workspace) changed(ctx context.Context, seen *reads, name string) (bool, error) {
	known, ok := seen.last(name)
	if !ok {
		return false, nil
	}
	file, err := openRegular(w.root, name, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil // nothing is lost
	}
	if err != nil {
		return false, err
	}
	defer file.Close()
	now, err := scan(ctx, file)
	return now != known, err
}

// replace puts content in the place of the file at name, or makes the file and
// the folders above it. The content is written to a temporary file in the same
// folder and renamed, all below one handle of that folder. If unchanged is set
// it is asked just before the rename, and its error leaves the file as it is.
// It reports whether there was a file. The caller holds the lock of name.
func (w *Workspace) replace(name string, content []byte, unchanged func(*os.Root, string) error) (existed bool, err error) {
	if name == "." {
		return false, errIsDirectory
	}
	above, base := path.Split(name)
	above = path.Clean(above)
	if err := w.root.MkdirAll(above, newFolder); errors.Is(err, fs.ErrExist) {
		return false, errNotDirectory
	} else if err != nil {
		return false, err
	}
	folder, err := w.root.OpenRoot(above)
	if err != nil {
		return false, err
	}
	defer folder.Close()
	mode, existed, err := writable(folder, base)
	if err != nil {
		return false, err
	}
	temp := ".tapetree-" + rand.Text() + ".tmp"
	err = writeTemp(folder, temp, content, mode, existed)
	if err == nil && unchanged != nil {
		err = unchanged(folder, base)
	}
	if err == nil {
		err = folder.Rename(temp, base)
	}
	if err != nil {
		_ = folder.Remove(temp) // may not be there; the first error counts
	}
	return existed, err
}

// writable returns the mode of the file at base, newFile if there is none, and
// fails if a plain write would: by type or by permission.
func writable(folder *os.Root, base string) (mode fs.FileMode, exists bool, err error) {
	file, err := openRegular(folder, base, os.O_WRONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return newFile, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return 0, false, err
	}
	return info.Mode().Perm(), true, nil
}

// writeTemp makes the file temp, which must not exist, with the given mode:
// exactly for one that takes the place of another, else before the umask.
func writeTemp(folder *os.Root, temp string, content []byte, mode fs.FileMode, exact bool) error {
	file, err := folder.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if exact && err == nil {
		err = file.Chmod(mode)
	}
	return errors.Join(err, file.Close())
}
