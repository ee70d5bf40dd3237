package proxy

import "net/http"

// Onward is what stands behind a recording proxy: it sends a request that a
// client made to this program on to its upstream. Of the options it needs the
// upstreams and the transport.
func Onward(o Options) http.RoundTripper {
	if o.Transport == nil {
		o.Transport = newTransport()
	}
	return &onward{options: &o}
}
