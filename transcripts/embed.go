package transcripts

import (
	"embed"
	"io/fs"
)

//go:embed *.jsonl
var embedded embed.FS

// Suite is the folder of transcripts inside the binary.
var Suite fs.FS = embedded
