//go:build !unix

package scenarios

func isNotDir(error) bool { return false } // fs.ErrNotExist says it there
