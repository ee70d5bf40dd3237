package histories

import (
	"bytes"
	"compress/gzip"
	"io"
	"strconv"

	"github.com/tapetree/tapetree/internal/files"
	"github.com/tapetree/tapetree/transcripts"
)

// unpack returns what a gzip file holds, and any other file as it is, in UTF-8. What
// unpacks to more than a transcript may have is refused: a small file can stand
// for more than any memory holds.
func unpack(path string, data []byte) ([]byte, error) {
	return unpackUpTo(path, data, files.TranscriptLimit)
}

func unpackUpTo(path string, data []byte, limit int64) ([]byte, error) {
	if !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return utf8Of(data), nil
	}
	var plain []byte
	unzip, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, &transcripts.SyntaxError{File: path, Msg: "begins as a gzip file, and is none: " + err.Error()}
	}
	var all bytes.Buffer
	for err == nil && int64(all.Len()) <= limit {
		_, err = io.CopyN(&all, unzip, min(longestBlank, limit+1-int64(all.Len())))
		if last := all.Bytes()[max(0, all.Len()-2*longestBlank):]; mostlyBlank(last) {
			return all.Bytes(), nil // see holdsNothing: the rest is not needed to refuse it
		}
	}
	if plain = all.Bytes(); err == io.EOF {
		err = nil
	}
	switch {
	case int64(len(plain)) > limit:
		return nil, tooLarge(path, limit)
	case err != nil:
		return nil, &transcripts.SyntaxError{File: path, Msg: "breaks off or is damaged within what gzip packed: " + err.Error(), Fix: "`gzip -t` says the same; get the file anew"}
	}
	return utf8Of(plain), nil
}

func tooLarge(path string, limit int64) error {
	return &transcripts.SyntaxError{File: path, Msg: sizeText(limit), Fix: "split it"}
}

func sizeText(limit int64) string {
	return "unpacks to more than " + strconv.FormatInt(limit>>20, 10) + " MiB, which no such file needs"
}
