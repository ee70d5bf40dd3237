package record

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/tapetree/tapetree/record/attribution"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// TrafficOptions sets up an import.
type TrafficOptions struct {
	Fold   *runtime.Folder
	Redact *Redactor
	// Attribute says how requests are told apart by agent.
	Attribute attribution.Options
	By        string // for the header
	// Together puts the requests to all upstreams into one transcript, for a
	// session whose agents asked at several.
	Together bool
	// Path is where the transcript of an upstream goes, one of several if the
	// file holds requests to more than one. Its base without .jsonl is the
	// transcript's name. An error ends the import before anything is written.
	Path func(host string, several bool) (string, error)
	// InMemory writes no file: the transcripts are only returned, and Path, which
	// may be nil, only names them.
	InMemory bool
}

// TrafficImport is what became of a file of recorded traffic.
type TrafficImport struct {
	Transcripts []*transcripts.File // one for each upstream, by host
	Upstreams   []string            // the host of each
	// Places says, for each transcript, from which entry each exchange came.
	Places []map[runtime.Place]transcripts.TrafficIndex
	// LeftOut names the requests that are in no transcript, each with its entry
	// and the reason.
	LeftOut []string
	// Warnings name what is in a transcript, but not as it was.
	Warnings []transcripts.Warning
	// Hidden counts the requests for a model answer that are no turn of any agent,
	// for the file does not hold, or not whole, what they asked.
	Hidden int

	word string // what the format calls an entry
}

// ImportTraffic writes the model requests of a HAR file or a cassette, and what else
// was asked of the same upstreams, to transcripts: through a Recorder, in the order of the
// file's clock, so that requests that overlapped are told apart as they would
// have been while they ran. Without any model request nothing is written: the
// error holds transcripts.ErrEmpty. On another error the transcripts that are
// finished are returned with it.
func ImportTraffic(ctx context.Context, h *transcripts.Traffic, o TrafficOptions) (*TrafficImport, error) {
	if o.Redact == nil {
		o.Redact = NewRedactor(nil)
	}
	if o.Path == nil {
		o.Path = func(string, bool) (string, error) { return h.Path, nil }
	}
	out := &TrafficImport{word: h.Word}
	groups := out.sort(h, o.Together)
	if len(groups) == 0 {
		return out, fmt.Errorf("import %s: it holds no request for a model answer: %w", h.Path, transcripts.ErrEmpty)
	}
	for _, g := range groups {
		var err error
		if g.path, err = o.Path(g.host, len(groups) > 1); err != nil {
			return out, err
		}
	}
	for _, g := range groups {
		f, places, err := out.play(ctx, h, g, o)
		if err != nil {
			return out, fmt.Errorf("import %s: %w", h.Path, err)
		}
		out.Transcripts, out.Upstreams, out.Places = append(out.Transcripts, f), append(out.Upstreams, g.host), append(out.Places, places)
	}
	return out, nil
}

// trafficGroup is the requests to one upstream.
type trafficGroup struct {
	host, base string // base is the address up to /v1
	prefix     string // of the paths that are the upstream's
	path       string // of the transcript
	entries    []transcripts.TrafficIndex
}

// sort puts entries to their upstreams. Of what is asked there beside model
// answers only that below the upstream's own path belongs to it: a web page
// from the same host does not.
func (out *TrafficImport) sort(h *transcripts.Traffic, together bool) []*trafficGroup {
	var groups []*trafficGroup
	of := map[string]*trafficGroup{}
	for _, e := range h.Entries {
		host := strings.ToLower(e.URL.Host)
		if !asksModel(e) || of[host] != nil {
			continue
		}
		prefix := strings.TrimRight(e.URL.Path, "/")
		for _, ending := range []string{"/chat/completions", "/responses", "/messages"} {
			prefix = strings.TrimSuffix(prefix, ending)
		}
		of[host] = &trafficGroup{host: host, base: e.URL.Scheme + "://" + host + prefix, prefix: prefix}
		groups = append(groups, of[host])
	}
	for _, e := range h.Entries {
		g := of[strings.ToLower(e.URL.Host)]
		switch {
		case g == nil:
			out.leave(e, "not to an upstream that was asked for a model answer")
		case e.Method == http.MethodOptions || e.Method == http.MethodConnect:
			out.leave(e, "it is between browser or proxy and server")
		case !asksModel(e) && !strings.HasPrefix(e.URL.Path, g.prefix+"/"):
			out.leave(e, "not below "+g.base)
		default:
			g.entries = append(g.entries, e)
		}
	}
	if together && len(groups) > 1 {
		return []*trafficGroup{joinedGroup(groups)}
	}
	slices.SortFunc(groups, func(a, b *trafficGroup) int { return cmp.Compare(a.host, b.host) })
	return groups
}

// joinedGroup makes one group of several, that of the first request.
func joinedGroup(groups []*trafficGroup) *trafficGroup {
	one := groups[0]
	for _, g := range groups[1:] {
		one.entries = append(one.entries, g.entries...)
	}
	slices.SortStableFunc(one.entries, func(a, b transcripts.TrafficIndex) int {
		return cmp.Or(a.Start.Compare(b.Start), cmp.Compare(a.Number, b.Number))
	})
	return one
}

// asksModel reports whether an entry asks for a model answer.
func asksModel(e transcripts.TrafficIndex) bool {
	if e.Method != http.MethodPost || e.URL.Scheme != "http" && e.URL.Scheme != "https" {
		return false
	}
	_, ok := runtime.WireOf(e.URL.Path)
	return ok
}

func (out *TrafficImport) leave(e transcripts.TrafficIndex, why string) {
	out.LeftOut = append(out.LeftOut, fmt.Sprintf("%s %d: %s: %s", out.word, e.Number, e.Name(), why))
}

func (out *TrafficImport) warn(e transcripts.TrafficIndex, format string, args ...any) {
	text := fmt.Sprintf("%s %d: %s: ", out.word, e.Number, e.Name()) + fmt.Sprintf(format, args...)
	out.Warnings = append(out.Warnings, transcripts.Warning{Line: e.Line, Msg: text})
}
