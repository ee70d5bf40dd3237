# package: opencode-ai@1.18.33
# wire: chat
# volatile: dates
# Delegates with its tool task, children side by side; asks for a title first. Reads the base URL from opencode.json in
# its home only.
mkdir -p "$HOME/.config/opencode"
cat >"$HOME/.config/opencode/opencode.json" <<JSON
{"model": "local/scripted", "small_model": "local/scripted", "provider": {"local": {
  "npm": "@ai-sdk/openai-compatible", "name": "local", "models": {"scripted": {"name": "scripted"}},
  "options": {"baseURL": "$OPENAI_BASE_URL", "apiKey": "$OPENAI_API_KEY"}}}}
JSON
export OPENCODE_DISABLE_AUTOUPDATE=1 OPENCODE_DISABLE_MODELS_FETCH=1
exec opencode run "MAINTASK: look at the notes." </dev/null
