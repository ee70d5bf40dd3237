package scenarios

import (
	"bytes"
	"io/fs"
)

// overlay is a folder in which one file is another one.
type overlay struct {
	fs.FS
	name string
	data []byte
}

// Open implements fs.FS.
func (o overlay) Open(name string) (fs.File, error) {
	if name != o.name {
		return o.FS.Open(name)
	}
	file, err := o.FS.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		_ = file.Close() // nothing was read of it
		return nil, err
	}
	return &overlaid{file, bytes.NewReader(o.data), overlaidInfo{info, int64(len(o.data))}}, nil
}

type overlaid struct {
	file fs.File
	*bytes.Reader
	info overlaidInfo
}

// Stat implements fs.File.
func (o *overlaid) Stat() (fs.FileInfo, error) { return o.info, nil }

// Close implements fs.File.
func (o *overlaid) Close() error { return o.file.Close() }

type overlaidInfo struct {
	fs.FileInfo
	size int64
}

// Size implements fs.FileInfo.
func (i overlaidInfo) Size() int64 { return i.size }
