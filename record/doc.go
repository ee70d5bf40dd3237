// Package record writes sessions to transcripts while they run, and answers
// sessions from transcripts.
//
// A Recorder sits at the HTTP layer, where nothing is lost: it keeps the bytes
// of requests and responses as they pass, with paths of this machine and
// secrets replaced (Redactor, runtime.Folder) before anything is written. A
// Replayer answers each request from the exchange at the same agent, turn and
// try, then compares the two and reports what differs (Report, Finding).
package record
