package scenarios

import (
	"embed"
	"io/fs"
)

//go:embed *.txtar
var embedded embed.FS

// Suite is the folder of scenarios inside the binary.
var Suite fs.FS = embedded
