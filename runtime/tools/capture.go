package tools

import (
	"fmt"
	"strings"
)

// noticeBytes is set aside within the cap for the line that says how much was
// left out: its words and a number of up to 19 digits.
const noticeBytes = 48

// capture keeps the beginning and the end of a text of any length. What it
// holds is bounded by a few times its cap. It has no other method than add to write to,
// so nothing can get past the cap.
type capture struct {
	limit int
	total int64
	head  strings.Builder // the first limit bytes
	tail  []byte          // at least the last limit bytes
}

func (c *capture) add(text string) {
	c.total += int64(len(text))
	if room := c.limit - c.head.Len(); room > 0 {
		c.head.WriteString(text[:min(room, len(text))])
	}
	if over := len(text) - c.limit; over > 0 {
		text = text[over:]
	}
	c.tail = append(c.tail, text...)
	if over := len(c.tail) - c.limit; over > c.limit {
		c.tail = append(c.tail[:0], c.tail[over:]...)
	}
}

// text returns what was kept, at most limit bytes, and how many bytes are left
// out. What is left out is said where it stood. A limit too small for that line
// leaves nothing but the line.
func (c *capture) text() (kept string, omitted int64) {
	if c.total <= int64(c.limit) {
		return c.head.String(), 0
	}
	half := max(0, c.limit-noticeBytes) / 2
	head := c.head.String()
	head = head[:cutBefore(head, half)]
	tail := string(c.tail)
	tail = tail[cutAfter(tail, len(tail)-half):]
	omitted = c.total - int64(len(head)) - int64(len(tail))
	if head != "" && !strings.HasSuffix(head, "\n") {
		head += "\n"
	}
	return fmt.Sprintf("%s[… %d bytes left out …]\n%s", head, omitted, tail), omitted
}
