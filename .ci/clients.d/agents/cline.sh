# package: cline@3.0.65
# wire: chat
# volatile: dates
# Delegates with its tool spawn_agent, children side by side. Reads the base URL from its own settings, which
# `cline auth` writes.
cline auth openai --apikey "$OPENAI_API_KEY" --modelid scripted --baseurl "$OPENAI_BASE_URL" </dev/null >/dev/null 2>&1
exec cline -P openai -m scripted --json "MAINTASK: look at the notes." </dev/null
