# package: @openai/codex@0.171.0
# wire: responses
# volatile: dates, uuids, durations
# One agent. Reads the base URL from config.toml in its home and the key from OPENAI_API_KEY.
mkdir -p "$HOME/.codex"
cat >"$HOME/.codex/config.toml" <<TOML
model = "scripted"
model_provider = "local"

[model_providers.local]
name = "local"
base_url = "$OPENAI_BASE_URL"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
TOML
exec codex exec --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox "MAINTASK: look at the notes." </dev/null
