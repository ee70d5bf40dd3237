package histories

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// utf8Of returns text in UTF-8 that its byte order mark tells to be UTF-16, as
// PowerShell writes it, and any other text as it is. What is no UTF-16 becomes
// U+FFFD.
func utf8Of(data []byte) []byte {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(data, []byte{0xff, 0xfe}):
		order = binary.LittleEndian
	case bytes.HasPrefix(data, []byte{0xfe, 0xff}):
		order = binary.BigEndian
	default:
		return data
	}
	out := make([]byte, 0, len(data)/2+len(data)/8)
	for at := 2; at < len(data); at += 2 {
		if at+1 == len(data) { // half a character
			return utf8.AppendRune(out, utf8.RuneError)
		}
		r := rune(order.Uint16(data[at:]))
		if utf16.IsSurrogate(r) {
			low := rune(0)
			if at+3 < len(data) {
				low = rune(order.Uint16(data[at+2:]))
			}
			if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
				at += 2
			}
		}
		out = utf8.AppendRune(out, r)
	}
	return out
}
