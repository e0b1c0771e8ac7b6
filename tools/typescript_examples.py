"""Run the examples of the original pi in the original and in this pi, with the same scripted model, and compare.

``python tools/typescript_examples.py --install`` installs the original, its examples and a Node.js into
``.typescript-examples`` of this repository, from the npm registry, and what ``typescript_packages.py`` needs; without
options it runs everything there and writes ``docs/reference/typescript-examples.md``. Names of examples as arguments
run only these, and print what differs. The original needs ``rg`` and ``fd`` on the ``PATH``: its tools do not search
without them.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import zip_longest
from pathlib import Path
from queue import Empty, Queue
from typing import IO, TYPE_CHECKING, Any, cast

from attrs import asdict, define, field
from typescript_screens import SCRIPTS, Script, screens

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".typescript-examples"
PAGE = ROOT / "docs" / "reference" / "typescript-examples.md"
VERSION = "0.87.1"
PACKAGES = (
    f"@earendil-works/pi-coding-agent@{VERSION}",
    "node@22.23.3",
    "@earendil-works/gondolin",  # these three are what examples import
    "@anthropic-ai/sandbox-runtime",
    "ms",
)
AGENT = FOLDER / "node_modules" / "@earendil-works" / "pi-coding-agent"
NODE = FOLDER / "node_modules" / "node" / "bin" / "node"
QUIET = 0.8
"""Seconds without output after which a step is over."""
LATEST = 10.0
"""Seconds after which a prompt that has started no run is taken as handled by the extension."""
MOST = 120.0
"""Seconds that a step may take."""

OURS = ("rewind", "cache-lint", "loaded_tools")
"""Entries that plugins of this pi add to a session."""

MISSING = {
    "custom-provider-anthropic": "@anthropic-ai/sdk",
    "gondolin": "@earendil-works/gondolin",
    "sandbox": "@anthropic-ai/sandbox-runtime",
    "with-deps": "ms",
}
"""Examples with packages of their own, which neither of the two comes with."""


def install() -> None:
    """Install the original with a Node.js, and copy its examples out of ``node_modules``."""
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "package.json").write_text('{"private": true}\n', encoding="utf-8")
    npm = ["npm", "install", "--silent", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", str(FOLDER)]
    subprocess.run([*npm, *PACKAGES], check=True)
    platform = next((FOLDER / "node_modules").glob("node-*/bin/node"), None)
    if platform is None:  # the package ``node`` gets it by a script
        version = json.loads((FOLDER / "node_modules" / "node" / "package.json").read_text(encoding="utf-8"))["version"]
        system = {"darwin": "darwin", "win32": "win"}.get(sys.platform, "linux")
        machine = {"aarch64": "arm64", "arm64": "arm64"}.get(os.uname().machine, "x64")
        subprocess.run([*npm, f"node-{system}-{machine}@{version}"], check=True)
    examples = FOLDER / "examples"
    shutil.rmtree(examples, ignore_errors=True)
    shutil.copytree(AGENT / "examples" / "extensions", examples)


def node() -> Path:
    """Return the Node.js of the folder."""
    return next((FOLDER / "node_modules").glob("node-*/bin/node"), NODE)


def examples() -> dict[str, Path]:
    """Return the examples by name: the files, and the folders with an ``index.ts``."""
    folder = FOLDER / "examples"
    files = {each.stem: each for each in folder.glob("*.ts")}
    return dict(sorted({**files, **{each.parent.name: each for each in folder.glob("*/index.ts")}}.items()))


# The model


class Model:
    """A model server that speaks OpenAI's Completions and gives prepared answers, then ``done``.

    Attributes:
        requests: The bodies of the requests.
        answers: What is left to answer: a text, or the name and the arguments of a call.
    """

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.answers: list[str | tuple[str, dict[str, Any]]] = []
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                model.requests.append(json.loads(body))
                data = model.stream()
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_arguments: object) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        """The base URL."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def close(self) -> None:
        """End the server."""
        self._server.shutdown()
        self._server.server_close()

    def stream(self) -> bytes:
        """Return the next answer."""
        answer = self.answers.pop(0) if self.answers else "done"
        delta: dict[str, Any] = {"role": "assistant", "content": answer}
        reason = "stop"
        if not isinstance(answer, str):
            function = {"name": answer[0], "arguments": json.dumps(answer[1])}
            call = {"index": 0, "id": f"call_{len(self.requests)}", "type": "function", "function": function}
            delta = {"role": "assistant", "tool_calls": [call]}
            reason = "tool_calls"
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        chunk = {"id": "x", "object": "chat.completion.chunk", "model": "m"}
        choices: list[dict[str, Any]] = [
            {"delta": delta, "finish_reason": None},
            {"delta": {}, "finish_reason": reason},
        ]
        rows: list[dict[str, Any]] = [{**chunk, "choices": [{"index": 0, **each}]} for each in choices]
        rows.append({**chunk, "choices": [], "usage": usage})
        return b"".join(b"data: " + json.dumps(each).encode() + b"\n\n" for each in rows) + b"data: [DONE]\n\n"


# The two programs


def program(model: Model, *, ours: bool, file: Path | None, home: Path) -> tuple[list[str], Path, dict[str, str]]:
    """Prepare one of the two programs in an empty folder, with an extension.

    Returns:
        The command, the working directory, and all of the environment.
    """
    agent, work = home / ".pi" / "agent", home / "work"
    agent.mkdir(parents=True)
    work.mkdir()
    (work / "a.txt").write_text("one\ntwo\nthree\n")
    (home / ".profile").touch()
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], [*who, "commit", "-qm", "first"]):
        subprocess.run(["git", *words], cwd=work, check=True, capture_output=True)  # noqa: S607 - the user's git
    provider = {"baseUrl": model.url, "api": "openai-completions", "apiKey": "k", "models": [{"id": "m"}]}
    (agent / "models.json").write_text(json.dumps({"providers": {"p": provider}}))
    settings = {"typescript": {"node": str(node())}} if ours else {}
    (agent / "settings.json").write_text(json.dumps(settings))
    programs = home / "bin"
    programs.mkdir()
    for name, debian in (("fd", "fdfind"), ("rg", "rg")):  # what the original would download
        found = shutil.which(name) or shutil.which(debian)
        if found is not None:
            (programs / name).symlink_to(found)
    if ours:
        (agent / "typescript").symlink_to(FOLDER)
        command = [str(Path(sys.executable).with_name("pi"))]
    else:
        command = [str(node()), str(AGENT / "dist" / "bundle" / "cli.js")]
    extension = [] if file is None else ["-e", str(file)]
    environ = {
        "PATH": f"{programs}:{node().parent}:{os.environ['PATH']}",
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "PI_OFFLINE": "1",
        "PI_CODING_AGENT_DIR": str(agent),
        "PWD": str(work),
    }
    return [*command, "--model", "p/m", *extension], work, environ


def screen_of(*, ours: bool, file: Path, script: Script) -> list[list[str]]:
    """Run one of the two programs with an example in a terminal; return what the example draws after each step."""
    with tempfile.TemporaryDirectory(prefix="tsx", ignore_cleanup_errors=True) as folder:  # Node.js writes to its cache
        home = Path(folder) / "home"
        home.mkdir()
        return screened(ours=ours, file=file, home=home, script=script)


def screened(*, ours: bool, file: Path, home: Path, script: Script, show: bool = False) -> list[list[str]]:
    """Do the same in an empty folder, and print the screens if wanted."""
    model = Model()
    model.answers = [*script.answers]
    command, work, environ = program(model, ours=ours, file=file, home=home)
    for name, text in script.files.items():
        (home / ".pi" / "agent" / name).write_text(text, encoding="utf-8")
    try:
        return screens(script, command, work, environ, show=show)
    finally:
        model.close()


@define
class Recording:
    """What happened in a run."""

    requests: list[dict[str, Any]] = field(factory=list)
    ui: list[dict[str, Any]] = field(factory=list)
    events: list[dict[str, Any]] = field(factory=list)
    entries: list[dict[str, Any]] = field(factory=list)
    failure: str = ""


class Run:
    """One of the two programs in RPC mode.

    Args:
        ours: Whether it is this pi.
        file: The extension; None for a run without one.
        home: An empty folder.
        prepare: Prepares the program, as ``program`` does.
    """

    def __init__(
        self,
        *,
        ours: bool,
        file: Path | None,
        home: Path,
        prepare: Callable[..., tuple[list[str], Path, dict[str, str]]] = program,
    ) -> None:
        self.model = Model()
        self.recording = Recording()
        self.home = home
        command, work, environ = prepare(self.model, ours=ours, file=file, home=home)
        self._errors = (home / "stderr").open("wb")
        self._process = subprocess.Popen(
            [*command, "--mode", "rpc"],
            cwd=work,
            env=environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
        )
        self._lines: Queue[dict[str, Any] | None] = Queue()
        self._number = 0
        self._has_ended = False
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        for line in self._process.stdout or ():
            try:
                self._lines.put(json.loads(line))
            except ValueError:
                self.recording.failure += f"not JSON: {line[:200]!r}; "
        self._lines.put(None)

    def send(self, **message: Any) -> None:
        """Send a command."""
        try:
            cast("IO[bytes]", self._process.stdin).write(json.dumps(message).encode() + b"\n")
            cast("IO[bytes]", self._process.stdin).flush()
        except OSError:
            self.recording.failure += "it has ended; "

    def step(self, **command: Any) -> dict[str, Any]:
        """Send a command, answer what is asked meanwhile, and wait until nothing happens any more."""
        if self._has_ended:
            self.recording.failure += f"it has ended before {command}; "
            return {}
        self._number += 1
        number = f"n{self._number}"
        self.send(id=number, **command)
        response: dict[str, Any] = {}
        begun = time.monotonic()
        running, end = False, begun + MOST
        starts = not str(command.get("message", "/")).startswith("/")
        while time.monotonic() < end:
            try:
                message = self._lines.get(timeout=QUIET)
            except Empty:
                is_due = not starts or time.monotonic() > begun + LATEST
                if response and not running and is_due:
                    return response
                continue
            if message is None:
                self._has_ended = True
                self.recording.failure += f"it ended in {command}; "
                return response
            kind = message.get("type")
            if kind == "response" and message.get("id") == number:
                response = message
            elif kind == "extension_ui_request":
                self._answer(message)
            elif kind == "agent_start":
                running, starts = True, False
            elif kind in ("agent_settled", "agent_end"):
                running = False
            self._note(message)
        self.recording.failure += f"no end of {command}; "
        return response

    def _answer(self, asked: Mapping[str, Any]) -> None:
        given: dict[str, Any]
        method = asked["method"]
        if method == "select":
            given = {"value": asked["options"][0]}
        elif method == "confirm":
            given = {"confirmed": True}
        elif method == "input":
            given = {"value": "typed"}
        elif method == "editor":
            given = {"value": asked.get("prefill") or "written"}
        else:
            return
        self.send(type="extension_ui_response", id=asked["id"], **given)

    def _note(self, message: Mapping[str, Any]) -> None:
        kind = message.get("type")
        if kind == "extension_ui_request":
            asked = {key: value for key, value in message.items() if key not in ("type", "id")}
            if asked["method"] == "notify":
                asked.setdefault("notifyType", "info")  # what the absence of it says
            self.recording.ui.append(asked)
        elif kind == "message_end" and message["message"]["role"] != "system":
            self.recording.events.append({"message": message["message"]})
        elif kind == "tool_execution_end":
            self.recording.events.append({key: message.get(key) for key in ("toolName", "result", "isError")})
        elif kind == "extension_error":
            self.recording.events.append({"error": message.get("error")})

    def end(self) -> Recording:
        """End the program, and return what happened."""
        with suppress(OSError):  # it has ended already
            cast("IO[bytes]", self._process.stdin).close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self.recording.failure += "it does not end; "
        self._reader.join(5)
        cast("IO[bytes]", self._process.stdout).close()
        self._process.wait()
        self._errors.close()
        self.model.close()
        self.recording.requests = self.model.requests
        for file in sorted((self.home / ".pi" / "agent" / "sessions").rglob("*.jsonl")):
            rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line]
            kinds = ("custom", "custom_message", "label", "session_info")
            self.recording.entries += [
                row for row in rows if row.get("type") in kinds and row.get("customType") not in OURS
            ]
        return self.recording


# What is done with an example


@define
class Registered:
    """What an example registers in the original."""

    tools: list[dict[str, Any]]
    commands: list[str]
    hooks: list[str]
    others: list[str]
    error: str = ""


_LOADS = """
import { discoverAndLoadExtensions } from "@earendil-works/pi-coding-agent";
const out = {};
for (const file of process.argv.slice(2)) {
  const { extensions, errors } = await discoverAndLoadExtensions([file], process.cwd(), "/nonexistent");
  const it = extensions[0];
  out[file] = it
    ? {
        tools: [...it.tools.values()].map(({ definition: each }) => ({
          name: each.name, description: each.description, parameters: JSON.parse(JSON.stringify(each.parameters)),
        })),
        commands: [...it.commands.keys()], hooks: [...it.handlers.keys()],
        others: [it.shortcuts, it.flags, it.messageRenderers, it.entryRenderers ?? new Map()]
          .flatMap((each) => [...each.keys()]),
      }
    : { tools: [], commands: [], hooks: [], others: [], error: errors.map((each) => each.error).join("; ") };
}
console.log("RESULT" + JSON.stringify(out));
process.exit(0);
"""


def registered(files: Sequence[Path]) -> dict[Path, Registered]:
    """Return what the examples register in the original."""
    script = FOLDER / "loads.mjs"
    script.write_text(_LOADS, encoding="utf-8")
    with tempfile.TemporaryDirectory() as work:
        done = subprocess.run(
            [str(node()), str(script), *map(str, files)], cwd=work, check=True, capture_output=True, text=True
        )
    found = json.loads(done.stdout.partition("RESULT")[2])
    return {file: Registered(**found[str(file)]) for file in files}


_HOST = """exec "$@" 3>&1 4<&0 1>&2 0</dev/null"""


def registered_here(files: Sequence[Path]) -> list[dict[str, Any]]:
    """Return what examples register in this pi's process for extensions, or ``error``, in their order."""
    host = ROOT / "plugins/tools/typescript/src/pi_typescript/host/main.js"
    plugins = [{"name": f"x{number}", "file": str(file)} for number, file in enumerate(files)]
    start = {"type": "start", "plugins": plugins, "packages": str(FOLDER), "agentDir": "/nonexistent", "state": {}}
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    command = ["/bin/sh", "-c", _HOST, "sh", str(node()), "--no-warnings", str(host)]
    with tempfile.TemporaryDirectory() as work, subprocess.Popen(command, cwd=work, **pipes) as process:
        pipe = cast("IO[bytes]", process.stdin)
        pipe.write(json.dumps(start).encode() + b"\n")
        pipe.flush()
        timer = threading.Timer(60, process.kill)
        timer.start()
        line = cast("IO[bytes]", process.stdout).readline()
        timer.cancel()
        process.kill()
    found = json.loads(line)["plugins"] if line else {}
    return [found.get(each["name"], {"error": {"message": "it does not answer"}}) for each in plugins]


ARGUMENTS = {"plan": "", "preset": "", "handoff": "go on", "session-name": "named", "name": "named"}
"""What is typed after a command; else ``x``."""

LEFT_OUT = {"quit", "reload-runtime"}
"""Commands that end the session."""


def sample(schema: Mapping[str, Any]) -> Any:
    """Return a value that a schema allows."""
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return schema["enum"][0]
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return sample(schema[key][0])
    kind = schema.get("type")
    if kind == "object":
        wanted = schema.get("required", ())
        return {key: sample(each) for key, each in schema.get("properties", {}).items() if key in wanted}
    if kind == "array":
        return [sample(schema.get("items", {})) for _ in range(max(schema.get("minItems", 1), 1))]
    return {"number": 1, "integer": 1, "boolean": True}.get(str(kind), "a.txt")


def drive(run: Run, known: Registered | None) -> Recording:
    """Do with an example what can be done without knowing it: a prompt with a call, its tools, its commands."""
    run.step(type="get_state")
    run.model.answers = [("bash", {"command": "echo hi"}), "done"]
    run.step(type="prompt", message="Say hi")
    for tool in known.tools if known is not None else ():
        arguments = {"command": "echo from a tool"} if tool["name"] == "bash" else sample(tool["parameters"])
        run.model.answers = [(tool["name"], arguments), "done"]
        run.step(type="prompt", message=f"Use {tool['name']}")
    for command in known.commands if known is not None else ():
        if command not in LEFT_OUT:
            run.model.answers = []
            run.step(type="prompt", message=f"/{command} {ARGUMENTS.get(command, 'x')}".strip())
    run.model.answers = []
    run.step(type="prompt", message="Go on")
    return run.end()


# Comparing


def tools_of(recording: Recording) -> set[str]:
    """Return the names of the tools in the requests of a run."""
    return {tool["function"]["name"] for request in recording.requests for tool in request.get("tools", ())}


def plain(
    recording: Recording, bases: Mapping[bool, Recording], home: Path, known: Registered, source: str, *, ours: bool
) -> dict[str, list[Any]]:
    """Return what an example caused, without what differs between runs and programs anyway.

    Of the system prompt that is what the example's own files contain, of the tools those of the example; lists in what
    it stores are without the tools that only this program has.
    """
    baseline = bases[ours]
    base_lines = {line for request in baseline.requests for line in system_of(request)}
    base_tools = tools_of(baseline)
    others = base_tools - tools_of(bases[not ours])
    own_tools = {each["name"] for each in known.tools}
    statuses = {json.dumps(each, sort_keys=True) for each in baseline.ui}

    def is_own(line: str) -> bool:
        return bool(line.strip()) and line not in base_lines and line in source

    requests = [
        {
            "system": [*filter(is_own, system_of(request))],
            "tools": sorted(
                name
                for tool in request.get("tools", ())
                if (name := tool["function"]["name"]) not in base_tools or name in own_tools
            ),
            "messages": [said(each) for each in request["messages"] if each["role"] not in ("system", "developer")],
        }
        for request in recording.requests
    ]
    ui = [without_nothing(each) for each in recording.ui if json.dumps(each, sort_keys=True) not in statuses]
    kept = ("type", "customType", "data", "content", "label", "name", "details")
    entries = [
        {key: without_items(each[key], others) for key in kept if each.get(key) is not None}
        for each in recording.entries
    ]
    parts = {"requests": requests, "ui": ui, "events": [*map(happened, recording.events)], "entries": entries}
    found = {part: tidied(value, home) for part, value in parts.items()}
    shown = found["ui"]
    found["ui"] = [each for at, each in enumerate(shown) if each["method"] != "setTitle" or each not in shown[:at]]
    return found


def tidied(value: Any, home: Path) -> Any:
    """Return data without what differs from run to run, and with the texts of this pi's tools as the original's."""
    text = json.dumps(value, sort_keys=True).replace(home.resolve().as_posix(), "HOME").replace(str(home), "HOME")
    for pattern, plain_text in _TIDY:
        text = re.sub(pattern, plain_text, text)
    return json.loads(text)


_TIDY = (
    (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "UUID"),
    (r"\d{4}-\d\d-\d\dT[\d:.]+Z", "TIME"),
    (r"(?<![\w.])1[67]\d{11}(?![\w.])", "0"),
    (r"\b\d+(\.\d+)?(ms|s)\b", "DURATION"),
    (r"u001b\[[34]8;[\d;]+m", "u001b[COLORm"),  # each has a theme of its own
    (r"System: \d+ chars", "System: N chars"),  # each has a prompt of its own
    (r"\\u28[0-9a-f]{2} ", "FRAME "),  # as many as the run takes
    (r"Successfully wrote \d+ bytes to", "Successfully wrote to"),
    (re.escape(tempfile.gettempdir()) + r"/[\w./-]+", "FILE"),
)


def without_items(value: Any, left_out: set[str]) -> Any:
    """Return data whose lists do not have certain texts as items."""
    if isinstance(value, list):
        return [without_items(each, left_out) for each in value if not (isinstance(each, str) and each in left_out)]
    return {key: without_items(each, left_out) for key, each in value.items()} if isinstance(value, dict) else value


def without_nothing(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return a mapping without the keys that are null."""
    return {key: each for key, each in value.items() if each is not None}


def system_of(request: Mapping[str, Any]) -> list[str]:
    """Return the lines of the system prompt of a request."""
    parts = [content_of(each) for each in request["messages"] if each["role"] in ("system", "developer")]
    return [line for text in parts for line in text.split("\n")]


def content_of(message: Mapping[str, Any]) -> str:
    """Return the text of a message to the model."""
    content = message.get("content")
    if isinstance(content, list):
        return "".join(part.get("text", f"[{part.get('type')}]") for part in content)
    return content or ""


def said(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a message to the model says, without its ids."""
    functions = [each["function"] for each in message.get("tool_calls") or ()]
    calls = [(each["name"], json.loads(each["arguments"] or "{}")) for each in functions]
    return {"role": message["role"], "text": content_of(message).strip(), **({"calls": calls} if calls else {})}


def happened(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an event says, without what is not the example's."""
    if "message" in event:
        message = event["message"]
        return {"message": message["role"], "text": texts(message), "customType": message.get("customType")}
    if "error" in event:
        return {"error": True}
    return {"tool": event["toolName"], "isError": bool(event["isError"]), "text": texts(event.get("result") or {})}


def texts(thing: Mapping[str, Any]) -> str:
    """Return the text of a message or of a result."""
    parts = thing.get("content") or []
    return (parts if isinstance(parts, str) else "".join(part.get("text", "") for part in parts)).strip()


def differences(theirs: Mapping[str, list[Any]], ours: Mapping[str, list[Any]]) -> list[str]:
    """Return what differs, one line each."""
    found = []
    for part in ("ui", "events", "entries"):  # messages of several senders may arrive in another order
        missing, more = [*map(_line, theirs[part])], []
        for each in map(_line, ours[part]):
            if each in missing:
                missing.remove(each)
            else:
                more.append(each)
        found += [f"{part}: only there {each}" for each in missing] + [f"{part}: only here {each}" for each in more]
    if len(theirs["requests"]) != len(ours["requests"]):
        found.append(f"requests: {len(theirs['requests'])} there, {len(ours['requests'])} here")
    for number, (one, other) in enumerate(zip(theirs["requests"], ours["requests"], strict=False)):
        found += [f"request {number}, {key}: {_apart(one[key], other[key])}" for key in one if one[key] != other[key]]
    return found


def _line(value: Any) -> str:
    return json.dumps(value, sort_keys=True)[:400]


def _apart(one: Any, other: Any) -> str:
    """Return the ends of two values from where they differ."""
    there, here = json.dumps(one), json.dumps(other)
    same = next((at for at, (a, b) in enumerate(zip(there, here, strict=False)) if a != b), min(len(there), len(here)))
    return f"there ...{there[max(same - 40, 0) : same + 160]} here ...{here[max(same - 40, 0) : same + 160]}"


@define
class Outcome:
    """The row of one example; ``screen`` is None for those without a script for the screen."""

    name: str
    loads: bool = False
    registers: bool = False
    same: bool = False
    screen: bool | None = None
    notes: list[str] = field(factory=list)

    @property
    def is_whole(self) -> bool:
        """Whether nothing differs."""
        return self.loads and self.registers and self.same and self.screen is not False


def recorded(*, ours: bool, file: Path | None, known: Registered | None) -> tuple[Recording, Path]:
    """Run one of the two programs with an example."""
    with tempfile.TemporaryDirectory(prefix="tsx", ignore_cleanup_errors=True) as folder:  # Node.js writes to its cache
        home = Path(folder) / "home"
        home.mkdir()
        return drive(Run(ours=ours, file=file, home=home), known), home


def registered_apart(known: Registered, here: Mapping[str, Any]) -> list[str]:
    """Return what an example registers in one of the two programs only, a line for each kind."""
    listed = here["registers"]
    pairs = {
        "tools": ({each["name"] for each in known.tools}, {each["name"] for each in listed.get("tools", ())}),
        "commands": (set(known.commands), {each["name"] for each in listed.get("commands", ())}),
        "hooks": (set(known.hooks), set(here["hooks"])),
    }
    apart = {kind: sorted(there ^ ours) for kind, (there, ours) in pairs.items()}
    return [f"{kind} {', '.join(names)}: only in one" for kind, names in apart.items() if names]


def compare(name: str, file: Path, known: Registered, bases: Mapping[bool, Recording]) -> Outcome:
    """Run an example in both programs, and return how it compares."""
    outcome = Outcome(name)
    (here,) = registered_here([file])
    if known.error or "error" in here:
        outcome.loads = bool(known.error) == ("error" in here)
        if known.error and "error" in here:
            outcome.registers = outcome.same = True
            outcome.notes.append(f"needs the package {MISSING.get(name, '?')}, which both do not come with")
        else:
            outcome.notes.append(f"loads only in one: {known.error or here['error']['message']}")
        return outcome
    outcome.loads = True
    outcome.notes += registered_apart(known, here)
    outcome.registers = not outcome.notes
    beside = file.parent.rglob("*") if file.name == "index.ts" else [file]
    source = "\n".join(each.read_text(encoding="utf-8", errors="replace") for each in beside if each.is_file())
    sides = {}
    for ours_too in (False, True):
        recording, home = recorded(ours=ours_too, file=file, known=known)
        sides[ours_too] = plain(recording, bases, home, known, source, ours=ours_too)
        if recording.failure:
            outcome.notes.append(f"{'here' if ours_too else 'there'}: {recording.failure}")
    different = differences(sides[False], sides[True])
    outcome.same = not different
    outcome.notes += different
    script = SCRIPTS.get(name)
    if script is not None:
        theirs, own = (screen_of(ours=ours_too, file=file, script=script) for ours_too in (False, True))
        outcome.screen = theirs == own and any(theirs)
        outcome.notes += [
            f"screen: there {one} here {other}" for one, other in zip_longest(theirs, own) if one != other
        ]
    return outcome


REASONS = {
    "gondolin": "it starts a virtual machine with QEMU, which was not there when this was compared",
    "project-trust": "`project_trust` is asked before there is a process that could answer",
}
"""Why an example is not the same in both."""

HEAD = """\
<!-- Made by tools/typescript_examples.py; change it there. -->

# The original's examples

This page compares how [this pi](../typescript.md) and the original run the original's {count} example extensions,
version {version}, unchanged and with the same scripted model. Each gets a prompt with a tool call, calls of its own
tools, and its commands; each dialog gets its first answer. The comparison covers what the example registers, its
requests to the model, messages, tool results, dialogs and notices, and what it stores in the session; for {screens}
that draw, also their rows in a terminal of 80 columns after the same keys. Tools that only one of the two programs
comes with are left out. {same} of {count} behave the same.

| example | loads | registers | requests and events | screen |
| --- | --- | --- | --- | --- |
"""


def page(outcomes: Sequence[Outcome]) -> str:
    """Return the text of the page."""
    absent = [each for each in outcomes if any(note.startswith("needs the package") for note in each.notes)]
    same = sum(each.is_whole for each in outcomes) - len(absent)
    rows = []
    for each in sorted(outcomes, key=lambda each: each.name):
        reason = REASONS.get(each.name, "")
        if each in absent:
            rows.append(f"| {each.name} | in neither: it needs `{MISSING[each.name]}` | | | |")
            continue
        registers = "the same" if each.registers else f"differs: {reason}"
        happens = "the same" if each.same else f"differs: {reason}"
        screen = {None: "", True: "the same", False: f"differs: {reason}"}[each.screen]
        rows.append(f"| {each.name} | {'yes' if each.loads else 'no'} | {registers} | {happens} | {screen} |")
    screens = sum(each.screen is not None for each in outcomes)
    return HEAD.format(count=len(outcomes), version=VERSION, same=same, screens=screens) + "\n".join(rows) + "\n"


def main() -> int:
    """Install, or run the examples."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--install", action="store_true")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--page", type=Path, nargs="+", help="write the page from results of --json, later ones count")
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    if given.install:
        install()
        packages = Path(__file__).with_name("typescript_packages.py")
        return subprocess.run([sys.executable, str(packages), "--install"], check=False).returncode
    if given.page:
        found = [Outcome(**each) for file in given.page for each in json.loads(file.read_text(encoding="utf-8"))]
        PAGE.write_text(page([*{each.name: each for each in found}.values()]), encoding="utf-8")
        return 0
    chosen = {name: file for name, file in examples().items() if not given.names or name in given.names}
    known = registered(list(chosen.values()))
    bases = {ours: recorded(ours=ours, file=None, known=None)[0] for ours in (False, True)}
    outcomes = []
    for name, file in chosen.items():
        outcome = compare(name, file, known[file], bases)
        outcomes.append(outcome)
        parts = ("loads", "registers", "same", "screen")
        print(f"{name}: " + ", ".join(f"{part} {getattr(outcome, part)}" for part in parts), flush=True)
        for note in outcome.notes:
            print(f"    {note}", flush=True)
        if given.json:
            given.json.write_text(json.dumps([asdict(each) for each in outcomes], indent=1), encoding="utf-8")
    print(sum(each.is_whole for each in outcomes), "of", len(outcomes), "are the same")
    return 0


if __name__ == "__main__":
    sys.exit(main())
