package transcripts

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/tapetree/tapetree/runtime"
)

// messageKey is equal for two messages that say the same: role, text, calls and
// the answered id are equal, however they were written (see alike).
type messageKey [sha256.Size]byte

// keyring makes keys, of each stored message once.
type keyring struct {
	known  map[*byte]messageKey
	buffer []byte
}

func (k *keyring) of(m runtime.Message) messageKey {
	at := storage(m)
	if key, ok := k.known[at]; ok && at != nil {
		return key
	}
	b := k.buffer[:0]
	text := func(s string) {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	text(string(m.Role))
	text(m.CallID)
	text(m.Content)
	for _, c := range m.Calls {
		text(c.ID)
		text(c.Name)
		text(c.Arguments)
	}
	k.buffer = b
	key := messageKey(sha256.Sum256(b))
	if at != nil {
		if k.known == nil {
			k.known = map[*byte]messageKey{}
		}
		k.known[at] = key
	}
	return key
}
