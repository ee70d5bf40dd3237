package scenarios

import goruntime "runtime"

// memoryInUse is what objects and goroutines hold now, in bytes.
func memoryInUse() float64 {
	goruntime.GC()
	goruntime.GC() // what the first one has let go of
	var m goruntime.MemStats
	goruntime.ReadMemStats(&m)
	return float64(m.HeapAlloc) + float64(m.StackInuse)
}
