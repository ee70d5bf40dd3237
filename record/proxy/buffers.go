package proxy

import (
	"io"
	"log"
	"sync"
)

// bufferSize is how much is copied at once. It is no delay: what has come is
// passed on.
const bufferSize = 32 << 10

// buffers is a pool of them.
type buffers struct{ pool sync.Pool }

// Get implements httputil.BufferPool.
func (b *buffers) Get() []byte {
	if kept, ok := b.pool.Get().(*[bufferSize]byte); ok {
		return kept[:]
	}
	return make([]byte, bufferSize)
}

// Put implements httputil.BufferPool.
func (b *buffers) Put(buffer []byte) { b.pool.Put((*[bufferSize]byte)(buffer)) }

var silent = log.New(io.Discard, "", 0)
