# package: @continuedev/cli@1.5.47
# wire: chat
# volatile: dates
# One agent. Reads the base URL from the file it is given.
cat >"$HOME/config.yaml" <<YAML
name: local
version: 0.0.1
schema: v1
models:
  - name: scripted
    provider: openai
    model: scripted
    apiBase: $OPENAI_BASE_URL
    apiKey: $OPENAI_API_KEY
    roles: [chat]
YAML
exec cn --config "$HOME/config.yaml" --auto -p "MAINTASK: look at the notes." </dev/null
