# package: @mariozechner/pi-coding-agent@0.73.1
# wire: chat
# volatile: dates
# One agent. Reads the base URL from models.json in its home only.
mkdir -p "$HOME/.pi/agent"
cat >"$HOME/.pi/agent/models.json" <<JSON
{"providers": {"local": {"baseUrl": "$OPENAI_BASE_URL", "api": "openai-completions", "apiKey": "$OPENAI_API_KEY", "models": [{"id": "scripted"}]}}}
JSON
export PI_OFFLINE=1
exec pi --provider local --model scripted --no-session -p "MAINTASK: look at the notes." </dev/null
