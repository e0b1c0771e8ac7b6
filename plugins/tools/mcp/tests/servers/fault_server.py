"""An MCP server without the SDK that misbehaves on request: ``fault_server.py [FAULT ...]``, older protocol, stdio."""

# ruff: noqa: C901, PLR0911, PLR0912 - one branch for each fault

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time

FAULTS = set(sys.argv[1:])
TINY = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAAC0lEQVR4nGNgAAIAAAUAAXpeqz8AAAAASUVORK5CYII="
SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]
lock = threading.Lock()
answers: dict[int, object] = {}
answered = threading.Event()


def send(message: dict) -> None:
    with lock:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def tool(name: str, description: str = "", **properties: object) -> dict:
    schema = {"type": "object", "properties": {key: {"type": kind} for key, kind in properties.items()}}
    return {"name": name, "description": description or f"The tool {name}", "inputSchema": schema}


def tools() -> list[dict]:
    found = [
        tool("echo", "Repeats a text", text="string"),
        {**tool("look", "Changes nothing"), "annotations": {"readOnlyHint": True, "title": "A look"}},
        tool("fail"),
        tool("die"),
        tool("hang"),
        tool("huge"),
        tool("long", count="integer"),
        tool("picture"),
        tool("parts"),
        tool("structured"),
        tool("link"),
        tool("progress", steps="integer"),
        tool("environment"),
        tool("ask"),
        tool("ask_url"),
        tool("sample"),
        tool("roots"),
        tool("become"),
        tool("unlock"),
        tool("control"),
        tool("no_message"),
        tool("meta"),
    ]
    if "odd-names" in FAULTS:
        found += [tool("with space"), tool("with_space"), tool("x" * 300)]
    if "invalid-schema" in FAULTS:
        found += [{"name": "broken", "inputSchema": "no schema"}, {"name": 3}, "nonsense"]
    if "refs" in FAULTS:
        schema = {"$defs": {"place": {"type": "string", "description": "A harbour"}}}
        found.append({"name": "refs", "inputSchema": {**schema, "properties": {"at": {"$ref": "#/$defs/place"}}}})
    if "crowd" in FAULTS:
        found += [tool(f"crowd_{number}") for number in range(2000)]
    if "hostile" in FAULTS:
        evil = "\x1b]0;OWNED\x07\u202e\x1b[2J"
        schema = {"properties": {"text": {"type": "string", "description": f"T{evil}", "enum": [f"E{evil}"]}}}
        found.append({"name": f"evil{evil}", "description": f"D{evil}\nsecond", "inputSchema": schema})
    if "against-the-schema" in FAULTS:
        dangling = {"type": "object", "properties": {"x": {"$ref": "#/$defs/nowhere"}}}
        other = {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]}
        found += [{**tool(name), "outputSchema": dangling if name == "dangling" else other} for name in RESULTS]
        found.append({**tool("odd"), "description": 5, "annotations": "none", "title": ["odd"]})
    if "unlocked" in FAULTS:
        found.append(tool("unlocked"))
    if "file" in FAULTS:
        if not os.path.exists("tools.json"):  # noqa: PTH110
            os._exit(3)
        with open("tools.json") as file:  # noqa: PTH123 - an import delays each test
            return [tool(name) for name in json.load(file)]
    if "became" in FAULTS:
        return [tool("echo", "Repeats a text", text="string"), tool("fresh", "Came later")]
    return found


FINE = [{"type": "text", "text": "fine"}]
RESULTS = {
    "array": {"content": FINE, "structuredContent": [1, 2]},
    "number": {"content": FINE, "structuredContent": 5},
    "only_array": {"structuredContent": [1, 2]},
    "nothing": {},
    "null_content": {"content": None, "structuredContent": {"x": 1}},
    "other_field": {"toolResult": "fine"},
    "other_error": {"content": FINE, "isError": None, "_meta": 3},
    "other_type": {"content": FINE, "structuredContent": {"x": "no number"}},
    "unstructured": {"content": FINE},
    "dangling": {"content": FINE, "structuredContent": {"x": 1}},
    "only_text": "fine",
    "only_list": [1, 2],
}


def ask(method: str, params: dict) -> object:
    number = 9000 + len(answers)
    answered.clear()
    send({"id": number, "method": method, "params": params})
    while number not in answers:
        answered.wait(0.05)
    return answers[number]


def text(value: str, **more: object) -> dict:
    return {"content": [{"type": "text", "text": value}], **more}


def call(request: dict) -> dict | None:
    name, arguments = request["params"]["name"], request["params"].get("arguments") or {}
    token = (request["params"].get("_meta") or {}).get("progressToken")
    if name == "echo":
        return text(arguments.get("text", ""))
    if name == "meta":
        return text(json.dumps(request["params"].get("_meta")))
    if name == "look":
        return text("seen")
    if name == "fail":
        return text("it failed", isError=True)
    if name == "die":
        sys.stderr.write("about to die\n")
        os._exit(3)
    if name == "hang":
        return None
    if name == "huge":
        with lock:
            for _ in range(200):
                sys.stdout.write("x" * (1 << 20))
            sys.stdout.write("\n")
        return None
    if name == "long":
        return text("a" + "é" * int(arguments.get("count", 50_000)) + "z")
    if name == "picture":
        return {"content": [{"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}]}
    if name == "parts":
        link = {"type": "resource_link", "uri": "tide://brest"}
        return {"content": [{"type": "text", "text": "sound"}, link, {"type": "image", "data": TINY, "mimeType": ""}]}
    if name == "structured":
        return {"content": [], "structuredContent": {"depth": 6}}
    if name == "link":
        return {"content": [{"type": "resource_link", "uri": "tide://brest", "name": "brest"}]}
    if name == "progress":
        for step in range(int(arguments.get("steps", 3))):
            send({"method": "notifications/progress", "params": {"progressToken": token, "progress": step, "total": 3}})
        return text("done")
    if name == "environment":
        return text(json.dumps(dict(os.environ)))
    if name == "ask":
        schema = {
            "type": "object",
            "properties": {"harbour": {"type": "string"}, "depth": {"type": "integer", "default": 5}},
            "required": ["harbour"],
        }
        return text(json.dumps(ask("elicitation/create", {"message": "Which harbour?", "requestedSchema": schema})))
    if name == "ask_url":
        params = {"mode": "url", "message": "Pay", "url": "https://pay.example/1", "elicitationId": "1"}
        return text(json.dumps(ask("elicitation/create", params)))
    if name == "sample":
        messages = [{"role": "user", "content": {"type": "text", "text": "How high is the tide?"}}]
        return text(json.dumps(ask("sampling/createMessage", {"messages": messages, "maxTokens": 50})))
    if name == "roots":
        return text(json.dumps(ask("roots/list", {})))
    if name in RESULTS:
        return RESULTS[name]
    if name == "unlock":
        FAULTS.add("unlocked")
        return {**text("unlocked"), "then": "notifications/tools/list_changed"}
    if name == "become":
        FAULTS.add("became")
        send({"method": "notifications/tools/list_changed"})
        return text("changed")
    if name == "control":
        return text("red \x1b[31m and \x07")
    return text(f"no tool {name}", isError=True)


def answer(request: dict) -> None:
    method = request.get("method")
    if method == "initialize":
        capabilities: dict = {"tools": {"listChanged": True}, "resources": {}, "prompts": {}, "completions": {}}
        result: object = {
            "protocolVersion": "2025-11-25",
            "capabilities": capabilities,
            "serverInfo": {"name": "fault", "version": "1"},
            "instructions": "A server for tests.",
        }
    elif method == "tools/list":
        if "endless-pages" in FAULTS:
            cursor = int((request.get("params") or {}).get("cursor") or 0)
            result = {"tools": [tool(f"page{cursor}")], "nextCursor": str(cursor + 1)}
        else:
            result = {"tools": tools()}
    elif method == "tools/call":
        result = call(request)
        if result is None:
            return
        if request["params"]["name"] == "no_message":
            send({"id": request["id"], "error": {"code": -1, "data": "low water"}})
            return
        if isinstance(result, dict) and "then" in result:
            sent = [{"id": request["id"], "result": {"content": result["content"]}}, {"method": result["then"]}]
            with lock:
                sys.stdout.write("".join(json.dumps({"jsonrpc": "2.0", **each}) + "\n" for each in sent))
                sys.stdout.flush()
            return
    elif method == "resources/list":
        result = {"resources": [{"uri": "tide://brest", "name": "brest", "description": "Tides of Brest"}]}
    elif method == "resources/templates/list":
        result = {"resourceTemplates": [{"uriTemplate": "tide://{port}", "name": "tide"}]}
    elif method == "resources/read" and request["params"]["uri"] == "tide://once" and not os.path.exists("died"):  # noqa: PTH110
        with open("died", "w"):  # noqa: PTH123 - an import delays each test
            os._exit(3)
    elif method == "resources/read":
        result = {"contents": [{"uri": request["params"]["uri"], "text": "High water at noon"}]}
    elif method == "prompts/list":
        arguments = [{"name": "port", "required": True}, {"name": "day"}]
        result = {"prompts": [{"name": "tide", "description": "Ask about a tide", "arguments": arguments}]}
    elif method == "prompts/get":
        given = request["params"].get("arguments") or {}
        content = {"type": "text", "text": f"When is high water at {given.get('port')} {given.get('day', 'today')}?"}
        result = {"messages": [{"role": "user", "content": content}]}
    elif method == "completion/complete":
        given = request["params"].get("context", {}).get("arguments", {})
        wanted = request["params"]["argument"]
        values = {"port": ["brest", "st malo"], "day": [f"when {given.get('port')} floods", "today"]}[wanted["name"]]
        result = {"completion": {"values": [each for each in values if each.startswith(wanted["value"])]}}
    else:
        send({"id": request["id"], "error": {"code": -32601, "message": "Method not found"}})
        return
    send({"id": request["id"], "result": result})


def main() -> None:
    if "silent" in FAULTS:
        time.sleep(600)
    if "exit" in FAULTS:
        sys.stderr.write("no such database\n")
        sys.exit(7)
    if "daemon" in FAULTS:
        child = subprocess.Popen(SLEEP, start_new_session=True)
        with open(os.environ["PID_FILE"], "w") as file:  # noqa: PTH123 - an import delays each test
            file.write(f"{child.pid} {os.getpid()}")
    if "deaf" in FAULTS:
        import signal

        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if "garbage" in FAULTS:
        sys.stdout.buffer.write(b'Welcome!\n\xff\xfe\x00\n{"half": \n')
        sys.stdout.flush()
    if "flood" in FAULTS:
        for _ in range(5_000):
            sys.stdout.write('{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n')
    for line in sys.stdin:
        message = json.loads(line)
        if "method" not in message:
            answers[message["id"]] = message.get("result", message.get("error"))
            answered.set()
        elif "id" in message:
            threading.Thread(target=answer, args=(message,), daemon=True).start()
    if "deaf" in FAULTS:
        time.sleep(600)


main()
