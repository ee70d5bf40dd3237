package scenarios

import goruntime "runtime"

// systemName is the word for an operating system in prompts and headers;
// "" stands for this one.
func systemName(given string) string {
	if given != "" {
		return given
	}
	switch goruntime.GOOS {
	case "darwin":
		return "macOS"
	case "windows":
		return "Windows"
	default:
		return "Linux"
	}
}
