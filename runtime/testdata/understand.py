#!/usr/bin/env python3
"""What recorded chat completions say, read by a second program.

    python3 understand.py ../../../shared/data > understood.json

The Go decoder is compared with this table, so nothing here is shared with it:
Python's own json, PyYAML for the cassettes, and the simplest reading of a
stream that the recordings allow. The table holds no recorded text: texts, ids,
names and arguments stand as LENGTH:HASH (bytes of UTF-8, the first 12 hex
digits of SHA-256). An exchange is a request to a path that ends in
chat/completions; a fixture that is a body alone counts as one with status 200.
"""
import gzip
import hashlib
import json
import pathlib
import re
import sys
import urllib.parse

import yaml

Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def mark(text):
    raw = text.encode("utf-8", "replace")
    return f"{len(raw)}:{hashlib.sha256(raw).hexdigest()[:12]}"


# --- finding the responses -------------------------------------------------


def listed(root):
    """The files that the index calls exchanges of chat completions."""
    for line in (root / "INDEX.md").read_text(encoding="utf-8").splitlines():
        cells = [c.strip() for c in line.split("|")]
        if len(cells) > 5 and cells[4] in ("exchange", "exchange-body"):
            yield cells[1].strip("`")


def is_chat(url):
    return urllib.parse.urlsplit(url).path.endswith("chat/completions")


def to_bytes(body):
    if isinstance(body, str):
        body = body.encode("utf-8", "surrogatepass")
    if body[:2] == b"\x1f\x8b":
        body = gzip.decompress(body)
    return body


def cassette(path):
    """(status, body) of each chat exchange of a go-vcr or vcrpy cassette."""
    for one in yaml.load(path.read_bytes(), Loader)["interactions"]:
        request, response = one["request"], one["response"]
        if not is_chat(request.get("url") or request.get("uri") or ""):
            continue
        if "code" in response:  # go-vcr
            status, body = response["code"], response["body"]
        else:  # vcrpy, or its variant with a parsed body
            status = response["status"]["code"]
            if "parsed_body" in response:
                body = json.dumps(response["parsed_body"], ensure_ascii=False)
            else:
                body = response["body"]["string"]
        yield status, to_bytes(body)


def httprr(path):
    data = path.read_bytes()
    at = data.index(b"\n") + 1
    while at < len(data):
        end = data.index(b"\n", at)
        sent, received = map(int, data[at:end].split())
        request = data[end + 1 : end + 1 + sent]
        response = data[end + 1 + sent : end + 1 + sent + received]
        at = end + 1 + sent + received
        if not is_chat(request.split()[1].decode()):
            continue
        head, _, body = response.partition(b"\r\n\r\n")
        if b"transfer-encoding: chunked" in head.lower():
            whole = b""
            while True:
                size, _, body = body.partition(b"\r\n")
                if int(size, 16) == 0:
                    break
                whole += body[: int(size, 16)]
                body = body[int(size, 16) + 2 :]
            body = whole
        yield int(head.split()[1]), to_bytes(body)


def responses(path):
    if path.suffix == ".yaml":
        return list(cassette(path))
    if path.suffix == ".httprr":
        return list(httprr(path))
    body = path.read_bytes()
    if path.name.endswith(".chunks.txt"):
        lines = [line for line in body.split(b"\n") if line.strip()]
        body = b"".join(b"data: " + line + b"\n\n" for line in lines)
    return [(200, body)]


# --- reading one response --------------------------------------------------


def text_of(content):
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(p["text"] for p in content if p.get("type") == "text")
    return ""


def number(value):
    return value if isinstance(value, int) else 0


def usage_of(u):
    cached = number((u.get("prompt_tokens_details") or {}).get("cached_tokens"))
    reasoning = number((u.get("completion_tokens_details") or {}).get("reasoning_tokens"))
    i, o = number(u.get("prompt_tokens")), number(u.get("completion_tokens"))
    if reasoning and number(u.get("total_tokens")) == i + o + reasoning:
        o += reasoning
    return [i, o, cached or number(u.get("prompt_cache_hit_tokens")), reasoning]


def arguments_of(value):
    if not isinstance(value, (str, type(None))):
        value = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return value if value and value.strip() not in ("", "null") else "{}"


class Reading:
    def __init__(self):
        self.text = self.reasoning = self.refusal = ""
        self.calls = []
        self.finish, self.model, self.usage = "", "", [0, 0, 0, 0]
        self.done = self.error = False

    def chunk(self, doc, key):
        if doc.get("error") or any(c.get("error") for c in doc.get("choices") or []):
            self.error = True
        self.model = doc.get("model") or self.model
        usage = doc.get("usage") or (doc.get("x_groq") or {}).get("usage")
        for choice in doc.get("choices") or []:
            if choice.get("index", 0) != 0:
                continue
            self.finish = choice.get("finish_reason") or self.finish
            usage = usage or choice.get("usage")
            m = choice.get(key) or {}
            self.text += text_of(m.get("content"))
            self.reasoning += m.get("reasoning_content") or ""
            self.reasoning += m.get("reasoning") or ""
            self.refusal += m.get("refusal") or ""
            for part in m.get("tool_calls") or []:
                self.call(part, whole=key == "message")
            old = m.get("function_call")
            if old and (old.get("name") or old.get("arguments")):  # Snowflake fills it in, empty
                self.call({"index": "old", "function": old}, whole=False)
        if usage:
            self.usage = usage_of(usage)

    def call(self, part, whole):
        f = part.get("function") or {}
        slot = None
        if not whole:
            index = part.get("index")
            for c in self.calls:
                if index is not None and c["index"] == index:
                    slot = c
                if index is None and c["id"] == part.get("id"):
                    slot = c
        if slot is None:
            slot = {"index": part.get("index"), "id": "", "name": "", "args": ""}
            self.calls.append(slot)
        slot["id"] = part.get("id") or slot["id"]
        slot["name"] = f.get("name") or slot["name"]
        args = f.get("arguments")
        slot["args"] += args if isinstance(args, str) else "" if args is None else arguments_of(args)


def read(status, body):
    r = Reading()
    outcome = "answer"
    text = body.decode("utf-8", "replace")
    if not 200 <= status <= 299:
        outcome = "status"
    elif re.match(r"\s*(data|event|id|retry)?:", text):
        for event in re.split(r"(?:\r\n|\n|\r){2,}", text):
            name, data = "", []
            for line in event.splitlines():
                field, _, value = line.partition(":")
                value = value[1:] if value.startswith(" ") else value
                if field == "data":
                    data.append(value)
                elif field == "event":
                    name = value
            joined = "\n".join(data).strip()
            if name == "error":
                r.error = True
            elif joined == "[DONE]":
                r.done = True
            elif joined and not r.error:
                r.chunk(json.loads(joined), "delta")
        outcome = "stream" if r.error else "answer" if r.done or r.finish else "cut"
    else:
        try:
            doc = json.loads(text)
            r.chunk(doc, "message")
            outcome = "stream" if r.error else "answer" if isinstance(doc.get("choices"), list) else "malformed"
        except ValueError:
            outcome = "malformed"
    row = {"status": status, "outcome": outcome, "text": mark(r.text), "usage": r.usage}
    if outcome == "answer":
        calls = [[mark(c["id"]), mark(c["name"]), mark(arguments_of(c["args"]))] for c in r.calls]
        row.update(finish=r.finish, model=mark(r.model), reasoning=mark(r.reasoning), refusal=mark(r.refusal), calls=calls)
    return row


def main():
    root = pathlib.Path(sys.argv[1])
    table = {name: [read(*one) for one in responses(root / name)] for name in sorted(listed(root))}
    rows = []
    for name, found in table.items():
        inner = ",\n".join("  " + json.dumps(row, separators=(",", ":"), sort_keys=True) for row in found)
        rows.append(json.dumps(name) + ": [\n" + inner + "\n]")
    print("{\n" + ",\n".join(rows) + "\n}")


if __name__ == "__main__":
    main()
