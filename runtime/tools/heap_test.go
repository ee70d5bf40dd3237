package tools

import goruntime "runtime"

// heapFromSystem is how many bytes of heap the process has taken from the
// system, after a collection.
func heapFromSystem() uint64 {
	var stats goruntime.MemStats
	goruntime.GC()
	goruntime.ReadMemStats(&stats)
	return stats.HeapSys
}
