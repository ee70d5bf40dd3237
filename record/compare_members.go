package record

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// compareTools compares the schemas; a list that the last request had too is
// not read again.
func (c *comparer) compareTools(out *comparison, recorded, sent jsontext.Value) {
	if !sameSlice(c.tools[0], sent) || !sameSlice(c.tools[1], recorded) {
		c.tools = [2][]byte{sent, recorded}
		c.toolsDiffer, c.toolsVolatile = nil, false
		if !bytes.Equal(recorded, sent) {
			inner := &comparison{}
			c.toolsDiffer = c.compareValue(inner, "/tools", recorded, sent)
			c.toolsVolatile = inner.volatile
		}
	}
	out.tools = append(out.tools, c.toolsDiffer...)
	out.volatile = out.volatile || c.toolsVolatile
}

// sameSlice reports whether both are the very same bytes in memory.
func sameSlice(a, b []byte) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

func (c *comparer) compareModel(out *comparison, recorded, sent string) {
	if recorded == sent {
		return
	}
	d := c.diff()
	text := func(s string) *node { return &node{kind: jsontext.KindString, text: s} }
	d.values("/model", text(recorded), text(sent))
	out.tools = append(out.tools, c.settle(out, d)...)
}

// compareParams compares all other members by name. Their order is no
// difference, and a stream that is not asked for is a stream that is false.
func (c *comparer) compareParams(out *comparison, recorded, sent []runtime.Param) {
	reordered := len(recorded) != len(sent)
	for i, r := range recorded {
		s := paramNamed(sent, r.Name)
		if i >= len(sent) || sent[i].Name != r.Name {
			reordered = true
		}
		if bytes.Equal(s, r.Value) || s == nil && isStreamFalse(r) || isReference(r) {
			continue
		}
		out.tools = append(out.tools, c.compareValue(out, pointer("", r.Name), r.Value, s)...)
	}
	for _, s := range sent {
		if paramNamed(recorded, s.Name) != nil {
			continue
		}
		if !isStreamFalse(s) && !isReference(s) {
			out.tools = append(out.tools, c.compareValue(out, pointer("", s.Name), nil, s.Value)...)
		}
	}
	if reordered && len(out.tools) == 0 {
		c.used(out, useJSONForm)
	}
}

func isStreamFalse(p runtime.Param) bool {
	return p.Name == "stream" && string(p.Value) == "false"
}

// isReference reports whether p stands for the system text, which is compared
// with the messages.
func isReference(p runtime.Param) bool { return bytes.Equal(p.Value, transcripts.SystemReference) }

func paramNamed(params []runtime.Param, name string) jsontext.Value {
	for _, p := range params {
		if p.Name == name {
			return p.Value
		}
	}
	return nil
}

// sentParams lists the members of the request's body that are neither model,
// messages nor tools, as Body writes them.
func sentParams(req *runtime.Request) []runtime.Param {
	params := req.Params[:len(req.Params):len(req.Params)]
	if !req.Stream {
		return append(params, runtime.Param{Name: "stream", Value: jsontext.Value("false")})
	}
	return append(params,
		runtime.Param{Name: "stream", Value: jsontext.Value("true")},
		runtime.Param{Name: "stream_options", Value: jsontext.Value(`{"include_usage":true}`)})
}
