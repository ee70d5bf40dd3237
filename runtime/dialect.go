package runtime

import (
	"net/url"
	"strings"
)

// The forms of the content of an assistant message with calls and no text.
const (
	ContentNull   = ""       // "content":null
	ContentEmpty  = "empty"  // "content":""
	ContentAbsent = "absent" // no content key
)

// Dialect is what differs between providers in what goes back to them. It
// depends on the endpoint alone, never on a model's name. The zero value is
// right for most.
type Dialect struct {
	Content       string // of an assistant message with calls and no text: ContentNull, ContentEmpty or ContentAbsent
	DropReasoning bool   // leave out the members whose names begin with "reasoning"
}

// DialectFor returns the dialect of the endpoint at baseURL, told by its host;
// the zero value for one that is not known. Groq refuses reasoning fields in a
// request. Ollama (by host, or by its port 11434) refused null and the
// services behind it refuse "".
func DialectFor(baseURL string) Dialect {
	u, err := url.Parse(baseURL)
	if err != nil {
		return Dialect{}
	}
	host := strings.ToLower(u.Hostname())
	switch {
	case inDomain(host, "groq.com"):
		return Dialect{DropReasoning: true}
	case inDomain(host, "ollama.com"), u.Port() == "11434":
		return Dialect{Content: ContentAbsent}
	default:
		return Dialect{}
	}
}

func inDomain(host, domain string) bool {
	return host == domain || strings.HasSuffix(host, "."+domain)
}
