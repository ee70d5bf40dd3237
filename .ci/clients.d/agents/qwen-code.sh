# package: @qwen-code/qwen-code@0.15.10
# wire: chat
# volatile: dates
# Delegates with its tool agent, one child after the other. Reads OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL.
export OPENAI_MODEL=scripted
exec qwen --auth-type openai -p "MAINTASK: look at the notes." --yolo </dev/null
