//go:build !unix

package agentcmd

const endedBySIGTERM = 1
