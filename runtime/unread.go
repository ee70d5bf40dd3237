package runtime

import (
	"bytes"
	"fmt"
	"net/http"
	"regexp"
	"strings"
)

// A response body that is not read is replaced by a text. The decoder of a live
// session takes the same text as its transcript holds, so that a replay comes
// to the same end.

var gzipMagic = []byte{0x1f, 0x8b}

// UnreadCoding returns the text in the place of a body whose bytes are in a
// content coding (br, zstd, gzip in gzip), "" for a body that can be read as it
// is. start is at least the first two bytes of the body, where it has them.
// The transport has undone the one coding that it asks for.
func UnreadCoding(h http.Header, start []byte) string {
	coding := strings.ToLower(strings.TrimSpace(strings.Join(h.Values("Content-Encoding"), ", ")))
	switch {
	case coding != "" && coding != "identity":
	case bytes.HasPrefix(start, gzipMagic):
		coding = "gzip"
	default:
		return ""
	}
	return fmt.Sprintf("the body is in the coding %.40q, which is not read here and not kept", coding)
}

// IsUnread reports whether text stands in the place of a body that was not read.
func IsUnread(text string) bool { return unread.MatchString(text) }

var unread = regexp.MustCompile(`^the (?:body is in the coding ".*", which is not read here and not kept|response is larger than the limit of \d+ bytes, and is not kept)$`)

// UnreadSize returns the text in the place of a body of more than limit bytes.
func UnreadSize(limit int64) string {
	return fmt.Sprintf("the response is larger than the limit of %d bytes, and is not kept", limit)
}
