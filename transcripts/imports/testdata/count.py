"""Counts what the files of recorded data hold, for the table in counts.tsv.

    python3 count.py DATA > counts.tsv

One line a history: file below DATA, part, agents, messages, calls, unanswered,
orphaned. It is written from the formats of the programs that wrote the files and
uses no code of this project, so that the two can be held against each other.
What it cannot read has no line. YAML needs PyYAML; the rest is in Python.

Messages are counted once for every agent: of a request that repeats what was
sent before, only what is new. A message counts as often as it occurs in that
list of its agent that has it most often.
"""
import collections
import gzip
import json
import os
import re
import sys

try:
    import yaml
    Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
except ImportError:
    yaml = None

DELEGATES = {"task", "agent", "spawnagent", "transfertask", "delegateworktocoworker", "askquestiontocoworker", "launchagent"}


def plain(content):
    """The text of a message."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(p.get("text", "") for p in content if isinstance(p, dict) and p.get("type", "text") == "text")
    return ""


def calls_of(message):
    """(id, name, arguments) of every tool call of a message."""
    found = []
    listed = message.get("tool_calls")
    if isinstance(listed, dict):
        listed = [listed]
    for call in listed or []:
        function = call.get("function") or {}
        found.append((call.get("id") or "", function.get("name") or "", as_text(function.get("arguments"))))
    old = message.get("function_call")
    if not found and isinstance(old, dict) and (old.get("name") or old.get("arguments")):
        found.append(("", old.get("name") or "", as_text(old.get("arguments"))))
    return found


def as_text(arguments):
    if arguments is None:
        return ""
    return arguments if isinstance(arguments, str) else json.dumps(arguments, separators=(",", ":"), ensure_ascii=False)


def delegates(call):
    return re.sub(r"[\W_]", "", call[1]).lower() in DELEGATES


class Message:
    def __init__(self, role, text="", calls=(), answers=None):
        self.role, self.text, self.calls, self.answers = role, text, list(calls), answers

    def key(self):
        return (self.role, self.text, tuple(self.calls), self.answers)


def chat(message):
    """A message of chat completions, as a list: SWE-agent's answers several calls."""
    role = message.get("role")
    if role in ("tool", "function"):
        ids = message.get("tool_call_ids") or [message.get("tool_call_id") or ""]
        return [Message("tool", plain(message.get("content")), (), i) for i in ids]
    return [Message(role, plain(message.get("content")), calls_of(message))]


def anthropic(message):
    """A message of the Anthropic API as messages of chat completions."""
    content = message.get("content")
    if isinstance(content, str):
        return [Message(message["role"], content)]
    out, text, calls = [], [], []
    for block in content:
        kind = block.get("type")
        if kind == "tool_result":
            out.append(Message("tool", plain(block.get("content")), (), block["tool_use_id"]))
        elif kind == "tool_use":
            calls.append((block["id"], block["name"], as_text(block.get("input"))))
        elif kind == "text":
            text.append(block["text"])
    if text or calls or not out:
        out.append(Message(message["role"], "".join(text), calls))
    return out


class Agent:
    """An agent, with every list that it had."""

    def __init__(self):
        self.lists = []

    def messages(self):
        """The lists laid over each other, each message once."""
        whole = []
        have = collections.Counter()
        for one in self.lists:
            here = collections.Counter()
            for m in one:
                here[m.key()] += 1
                if here[m.key()] > have[m.key()]:
                    have[m.key()] += 1
                    whole.append(m)
        return whole

    def count(self, open_end):
        counted = self.messages()
        answered, orphaned = set(), collections.Counter()
        kept = {}
        for one in self.lists:
            waiting, here = collections.defaultdict(list), collections.Counter()
            for m in one:
                here[m.key()] += 1
                name = (m.key(), here[m.key()])
                if m.role == "assistant":
                    for n, call in enumerate(m.calls):
                        waiting[call[0]].append((name, n))
                if m.role == "tool":
                    if waiting[m.answers]:
                        answered.add(waiting[m.answers].pop(0))
                        kept[name] = True
                    else:
                        kept.setdefault(name, False)
        calls = sum(len(m.calls) for m in counted if m.role == "assistant")
        unanswered = calls - len(answered)
        last = self.lists[-1][-1] if self.lists and self.lists[-1] else None
        if open_end and last is not None and last.role == "assistant":
            unanswered -= len(last.calls)
        return len(counted), calls, unanswered, sum(1 for ok in kept.values() if not ok)


def total(agents, unseen=0, open_end=False):
    sums = [len(agents) + unseen, 0, 0, 0, 0]
    for agent in agents:
        for i, n in enumerate(agent.count(open_end)):
            sums[i + 1] += n
    return sums


def single(messages, read=chat):
    """One agent whose messages stand in one list."""
    agent = Agent()
    agent.lists.append([m for one in messages for m in read(one)])
    started = sum(1 for m in agent.lists[0] if m.role == "assistant" for c in m.calls if delegates(c))
    return total([agent], started)


# Files of messages


def openai(data):
    yield "", single(data if isinstance(data, list) else data["messages"])


def tau(data):
    for run in data:
        yield "task %s, trial %s" % (run["task_id"], run["trial"]), single(run["traj"])


def swe(data):
    by_name = collections.OrderedDict()
    for message in data["history"]:
        by_name.setdefault(message.get("agent"), []).append(message)
    agents = []
    for messages in by_name.values():
        agent = Agent()
        agent.lists.append([m for one in messages for m in chat(one)])
        agents.append(agent)
    yield "", total(agents)


# Copilot


def copilot(data):
    """Conversations that begin with the same user message are one agent's; a
    child's is the prompt of a call; the request for a summary is no agent's."""
    agents = []  # (first user text, whether a child, Agent)
    prompts = []
    for conversation in data["conversations"]:
        merged = []
        for message in conversation["messages"]:
            for m in chat(message):
                m.text = m.text.strip()
                if m.role == "assistant" and merged and merged[-1].role == "assistant":
                    merged[-1].text += m.text
                    merged[-1].calls += m.calls
                else:
                    merged.append(m)
        users = [m.text for m in merged if m.role == "user"]
        if users[-1] == "${compaction_prompt}":
            continue
        for m in merged:  # the snapshots shorten this result in some places
            if m.role == "tool" and "does not exist." in m.text:
                m.text = m.text.split("does not exist.")[0]
        for first, agent in agents:
            if first == users[0] or users[0].startswith("Some of the conversation history has been summarized"):
                break
        else:
            agent = Agent()
            agents.append((users[0], agent))
        agent.lists.append(merged)
        for m in merged:
            for call in m.calls:
                if delegates(call):
                    prompts.append(json.loads(call[2]).get("prompt", "").strip())
    seen = {first for first, _ in agents}
    yield "", total([a for _, a in agents], len({p for p in prompts if p not in seen}))


# Claude Code


def claude(lines):
    """The conversation of a session: lines that are chained by parentUuid. An
    answer has a line for each of its blocks, with one message id. Progress lines
    bring the messages of subagents."""
    rows = []
    for line in lines:
        try:
            rows.append(json.loads(line))
        except ValueError:
            pass
    root, children = [], collections.OrderedDict()
    for row in rows:
        kind = row.get("type")
        if kind in ("user", "assistant") and not row.get("isSidechain"):
            root.append(row["message"])
        elif kind == "progress" and (row.get("data") or {}).get("type") == "agent_progress":
            inner = row["data"]["message"]
            children.setdefault(row["data"]["agentId"], []).append((row["parentToolUseID"], inner["message"]))
    agents = [Agent()]
    agents[0].lists.append(claude_messages(root))
    calls = [c for m in agents[0].lists[0] for c in m.calls if delegates(c)]
    started = {c[0] for c in calls}
    for parts in children.values():
        agent = Agent()
        agent.lists.append(claude_messages([m for _, m in parts]))
        agents.append(agent)
        started.discard(parts[0][0])
    yield "", total(agents, len(started))


def claude_messages(messages):
    out, answers = [], {}
    for message in messages:
        made = anthropic(message)
        name = message["role"] == "assistant" and message.get("id")
        if name and name in answers:  # results may stand between its blocks
            answers[name].text += made[0].text
            answers[name].calls += made[0].calls
            continue
        if name:
            answers[name] = made[0]
        out.extend(made)
    return out


# Cassettes: recorded HTTP


def answer_of(body):
    """The answer in a response of chat completions or of the Anthropic API."""
    if isinstance(body, dict):
        body = json.dumps(body)
    body = body.strip()
    if body.startswith("{"):
        try:
            data = json.loads(body)
        except ValueError:
            return None
        if data.get("choices"):
            return chat(data["choices"][0]["message"])[0]
        if data.get("type") == "message":
            return anthropic({"role": "assistant", "content": data["content"]})[0]
        return None
    text, calls, order, seen = [], {}, [], False
    for line in re.split(r"\r?\n", body):
        if not line.startswith("data:"):
            continue
        try:
            event = json.loads(line[5:])
        except ValueError:
            continue
        if event.get("error"):
            return None
        kind = event.get("type")
        if kind == "content_block_start":
            seen = True
            block = event["content_block"]
            if block["type"] == "tool_use":
                calls[event["index"]] = [block["id"], block["name"], ""]
                order.append(event["index"])
        elif kind == "content_block_delta":
            delta = event["delta"]
            text.append(delta.get("text", ""))
            if delta.get("partial_json"):
                calls[event["index"]][2] += delta["partial_json"]
        for choice in (event.get("choices") or [])[:1]:
            seen = True
            delta = choice.get("delta") or choice.get("message") or {}
            text.append(plain(delta.get("content")))
            for n, call in enumerate(delta.get("tool_calls") or []):
                at = call.get("index", n)
                function = call.get("function") or {}
                if at not in calls:
                    calls[at] = ["", "", ""]
                    order.append(at)
                calls[at][0] = calls[at][0] or call.get("id") or ""
                calls[at][1] = calls[at][1] or function.get("name") or ""
                calls[at][2] += as_text(function.get("arguments"))
            if delta.get("function_call"):
                at = calls.setdefault("old", ["", "", ""])
                order[:] = ["old"]
                at[1] = at[1] or delta["function_call"].get("name") or ""
                at[2] += delta["function_call"].get("arguments") or ""
    return Message("assistant", "".join(text), [tuple(calls[i]) for i in order]) if seen else None


def exchanges(data):
    """(path, request body, status, response body) of every exchange of a YAML cassette."""
    for one in data["interactions"]:
        request, response = one["request"], one["response"]
        body = request.get("body") or (json.dumps(request["parsed_body"]) if "parsed_body" in request else "")
        if isinstance(body, dict):  # parsed by YAML, or by the recorder
            body = json.dumps(body)
        if isinstance(body, bytes):
            body = body.decode("utf-8", "replace")
        status = response.get("status")
        status = status.get("code") if isinstance(status, dict) else response.get("code") or response.get("status_code") or status
        got = response.get("body")
        if got is None and "parsed_body" in response:
            got = json.dumps(response["parsed_body"])
        if isinstance(got, dict):
            got = got.get("string", "")
        if isinstance(got, bytes):
            got = (gzip.decompress(got) if got[:2] == b"\x1f\x8b" else got).decode("utf-8", "replace")
        yield request.get("uri") or request.get("url"), body, int(str(status).split()[0]), got or ""


def httprr(data):
    """The exchanges of an httprr file: for each two lengths, then both as sent."""
    at = data.index(b"\n") + 1
    while at < len(data):
        end = data.index(b"\n", at)
        asked, got = (int(n) for n in data[at:end].split())
        request = data[end + 1:end + 1 + asked]
        response = data[end + 1 + asked:end + 1 + asked + got]
        at = end + 1 + asked + got
        head, _, body = request.partition(b"\r\n\r\n")
        answer, _, text = response.partition(b"\r\n\r\n")
        if b"chunked" in answer.lower() and re.match(rb"[0-9a-fA-F]+\r\n", text):
            whole = b""
            while True:
                size, _, text = text.partition(b"\r\n")
                n = int(size, 16)
                if not n:
                    break
                whole, text = whole + text[:n], text[n + 2:]
            text = whole
        yield head.split()[1].decode(), body.decode(), int(answer.split()[1]), text.decode("utf-8", "replace")


def first_texts(messages):
    system = "".join(m.text for m in messages if m.role in ("system", "developer"))
    return system, next((m.text for m in messages if m.role == "user"), "")


def aside(request, sent):
    """Whether a request is no agent's: it wants a title, or a text in another form
    by a tool that it must call."""
    if re.search(r"(generate|write|create)[^.]{0,40} titles? for", first_texts(sent)[0].lower()) and not request.get("tools"):
        return True
    return isinstance(request.get("tool_choice"), dict) and [m.role for m in sent] == ["user"]


def goes_back(turn, sent):
    """Whether a request holds the very answer of a turn."""
    before, reply = turn
    if reply is None or len(sent) <= len(before):
        return False
    return sent[len(before)].calls == reply.calls and sent[len(before)].role == "assistant"


def add(agents, sent, reply):
    """Puts a request to the agent from whose last one it goes on."""
    for turns in sorted(agents, key=lambda turns: not goes_back(turns[-1], sent)):
        before, _ = turns[-1]
        same = [m.key() for m in sent[:len(before)]] == [m.key() for m in before]
        if same and len(sent) > len(before) or same and turns[-1][1] is None:
            turns.append((sent, reply))
            return
    agents.append([(sent, reply)])


def responses(items):
    """Items of the Responses API as messages: those of one answer are one."""
    if isinstance(items, str):
        return [Message("user", items)]
    out = []
    for item in items:
        kind = item.get("type", "message")
        if kind == "function_call_output":
            out.append(Message("tool", plain_items(item.get("output")), (), item["call_id"]))
            continue
        if kind == "message" and item["role"] != "assistant":
            out.append(Message(item["role"], plain_items(item["content"])))
            continue
        if not out or out[-1].role != "assistant":
            out.append(Message("assistant"))
        if kind == "message":
            out[-1].text += plain_items(item["content"])
        elif kind == "function_call":
            out[-1].calls.append((item["call_id"], item["name"], as_text(item["arguments"])))
    return out


def plain_items(content):
    if isinstance(content, str):
        return content
    return "".join(p.get("text", "") for p in content or [] if p.get("type") in ("input_text", "output_text", "text"))


def response_of(body):
    """The output of a response, as JSON or as the last event of a stream."""
    if body.lstrip().startswith("{"):
        return json.loads(body).get("output")
    for line in body.splitlines():
        if line.startswith("data:") and '"response.completed"' in line:
            return json.loads(line[5:])["response"]["output"]
    return None


def cassette(rows):
    """Requests that go on from an earlier one are of its agent; one that begins
    anew is another agent's."""
    agents = []  # lists of (sent, answer)
    for url, body, status, got in rows:
        path = re.split("[?#]", url)[0]
        if not path.endswith(("/chat/completions", "/messages", "/responses")):
            continue
        request = json.loads(body)
        if path.endswith("/responses"):
            sent = responses(request["input"])
            if request.get("instructions"):
                sent.insert(0, Message("system", request["instructions"]))
            output = response_of(got) if status == 200 else None
            add(agents, sent, (responses(output) or [None])[-1] if output is not None else None)
            continue
        read = anthropic if path.endswith("/messages") else chat
        sent = [m for one in request["messages"] for m in read(one)]
        if request.get("system"):
            sent.insert(0, Message("system", plain(request["system"])))
        if aside(request, sent):
            continue
        reply = answer_of(got) if status == 200 else None
        add(agents, sent, reply)
    made, linked = [], 0
    for turns in agents:
        agent = Agent()
        for n, (sent, reply) in enumerate(turns):
            later = turns[n + 1][0] if n + 1 < len(turns) else []
            echoed = len(later) > len(sent) and later[len(sent)].role == "assistant"
            agent.lists.append(sent + ([reply] if reply and not echoed else []))
        made.append(agent)
    firsts = ["\n".join(first_texts(turns[0][0])) for turns in agents]
    unseen = 0
    for agent in made:
        for m in agent.messages():
            for call in m.calls:
                if delegates(call):
                    given = [v for v in json.loads(call[2]).values() if isinstance(v, str) and len(v) > 12]
                    if not any(v in first for v in given for first in firsts):
                        unseen += 1
    if made:
        yield "", total(made, unseen, True)


def read(path):
    if path.endswith(".gz"):
        return ()
    if path.endswith(".httprr"):
        return cassette(list(httprr(open(path, "rb").read())))
    if path.endswith((".yaml", ".yml")) and yaml:
        data = yaml.load(open(path, encoding="utf-8"), Loader)
        if "conversations" in data:
            return copilot(data)
        return cassette(list(exchanges(data)))
    text = open(path, encoding="utf-8", errors="replace").read()
    if path.endswith(".jsonl"):
        return claude(text.splitlines())
    if not path.endswith((".json", ".traj")):
        return ()
    data = json.loads(text)
    if isinstance(data, dict) and "history" in data:
        return swe(data)
    if isinstance(data, dict) and "messages" in data or isinstance(data, list) and "role" in data[0]:
        return openai(data)
    if isinstance(data, list) and "traj" in data[0]:
        return tau(data)
    return ()


def main(root):
    print("file\tpart\tagents\tmessages\tcalls\tunanswered\torphaned")
    for folder, folders, names in os.walk(root):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(folder, name)
            for part, sums in read(path):
                print("\t".join([os.path.relpath(path, root), part] + [str(n) for n in sums]))


if __name__ == "__main__":
    main(sys.argv[1])
