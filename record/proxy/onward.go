package proxy

import (
	"net/http"
	"strings"

	"github.com/tapetree/tapetree/record"
)

// Onward is what stands behind a recording proxy: it sends a request that a
// client made to this program on to its upstream. Of the options it needs the
// upstreams and the transport. Its errors are *record.UpstreamError.
func Onward(o Options) http.RoundTripper {
	if o.Transport == nil {
		o.Transport = NewTransport()
	}
	return &named{&onward{options: &o}}
}

// named says in its errors where a request went.
type named struct{ next *onward }

// RoundTrip implements http.RoundTripper.
func (n *named) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := n.next.RoundTrip(req)
	if err != nil {
		return nil, &record.UpstreamError{URL: n.next.options.target(req), Err: err}
	}
	return resp, nil
}

// readableCodings leaves of the codings that a client offers for its answer those
// in which it can be recorded: gzip and none. An answer in another one could be
// passed on, but not be replayed. Who offers nothing, and so takes anything, is
// left alone.
func readableCodings(h http.Header) {
	offered := h.Values("Accept-Encoding")
	if len(offered) == 0 {
		return
	}
	var kept []string
	dropped := false
	for coding := range strings.SplitSeq(strings.Join(offered, ","), ",") {
		coding = strings.TrimSpace(coding)
		name, _, _ := strings.Cut(coding, ";")
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "gzip", "identity":
			kept = append(kept, coding)
		default:
			dropped = dropped || coding != ""
		}
	}
	switch {
	case !dropped:
	case len(kept) == 0:
		h.Set("Accept-Encoding", "identity")
	default:
		h.Set("Accept-Encoding", strings.Join(kept, ", "))
	}
}
