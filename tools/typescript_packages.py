"""Use ten packages of extensions of the original, unchanged, each once in a session of this pi with a scripted model.

``python tools/typescript_packages.py --install`` installs them into ``.typescript-packages`` of this repository, from
the npm registry; without options it uses each, and writes ``docs/reference/typescript-packages.md``.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import field, frozen
from typescript_examples import FOLDER as ORIGINAL
from typescript_examples import Model, Run, node, program
from typescript_screens import ENTER, Part, Script, Step, screens

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".typescript-packages"
PAGE = ROOT / "docs" / "reference" / "typescript-packages.md"
SERVER = """\
import json, sys
TOOL = {"name": "tide", "description": "The tide", "inputSchema": {"type": "object", "properties": {}}}
INFO = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "sea", "version": "1"}}
SAID = {"content": [{"type": "text", "text": "high at six"}]}
ANSWERS = {"initialize": INFO, "tools/list": {"tools": [TOOL]}, "tools/call": SAID}
for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": ANSWERS.get(asked["method"], {})}), flush=True)
"""
"""An MCP server with one tool."""


@frozen
class Package:
    """A package, and what is done with it.

    Attributes:
        name: The package with its version.
        used: What is used, for the page.
        happens: What has to happen, for the page.
        proof: What a notice, a message, a result or a request has to contain; on the screen, what it shows.
        say: What is typed.
        answers: What the model answers to it.
        keys: Keys in a terminal instead of what is typed: what needs a screen.
    """

    name: str
    used: str
    happens: str
    proof: str
    say: str = ""
    answers: Sequence[Any] = ()
    keys: str = ""


def call(name: str, /, **arguments: Any) -> tuple[tuple[str, Mapping[str, Any]], str]:
    """Return the answers of a model that calls a tool once."""
    return (name, arguments), "done"


PACKAGES = (
    Package(
        "@aliou/pi-processes@0.12.0",
        "its tool `process` starts a program",
        "the program runs, and a message says how it ended",
        'Process "tide" succeeded',
        say="Start it",
        answers=call("process", action="start", name="tide", command="echo high"),
    ),
    Package(
        "@baochunli/pi-collaborating-agents@0.4.6",
        "its tool `agent_message` lists the agents",
        "this session is listed under its name",
        "(you)",
        say="Who is there?",
        answers=call("agent_message", action="list"),
    ),
    Package(
        "pi-aliases@1.0.7",
        "its command `/clear`",
        "a new session begins",
        '"sessions": 2',
        say="/clear",
    ),
    Package(
        "pi-markdown-preview@0.16.0",
        "its command `/preview-clear-cache`",
        "its picture folder is cleared, and a notice says so; other commands need pandoc and a browser",
        "cache",
        say="/preview-clear-cache",
    ),
    Package(
        "pi-mcp-adapter@2.36.0",
        "its tool `mcp` calls the tool of an MCP server of `~/.config/mcp/mcp.json`",
        "it starts the server, and the model gets the answer",
        "high at six",
        say="Ask the sea",
        answers=[("mcp", {"connect": "sea"}), *call("mcp", tool="tide", server="sea")],
    ),
    Package(
        "pi-mermaid@0.3.0",
        "an answer with a diagram",
        "the diagram is drawn with lines of text, in a message of its own",
        "│ High ├",
        say="Draw it",
        answers=["```mermaid\ngraph LR\n  High --> Low\n```"],
    ),
    Package(
        "pi-prompt-template-model@0.12.2",
        "a prompt template that names another model",
        "the request goes to that model",
        '"model": "other"',
        say="/tide",
    ),
    Package(
        "pi-sync-system-theme@0.2.5",
        "its command `/system-theme-push dark`",
        "it prints its usage, because it treats its argument as a list; the original does the same",
        "Usage: /system-theme-push",
        say="/system-theme-push dark",
    ),
    Package(
        "pi-system-theme@0.5.0",
        "its command `/system-theme`, on the screen",
        "its questions are asked in pi's dialogs",
        "Poll interval (ms)",
        keys="/system-theme" + ENTER,
    ),
    Package(
        "pi-web-access@0.28.0",
        "its tool `fetch_content`, with an address of this computer",
        "it refuses the address, as it should",
        "Blocked internal address",
        say="Fetch it",
        answers=call("fetch_content", url="http://127.0.0.1:9/tide"),
    ),
)


@frozen
class Result:
    """What became of a package: whether it did what it had to, and everything that happened."""

    package: Package
    worked: bool
    seen: str = field(repr=False)


def pi() -> str:
    """Return the path of this pi."""
    return str(Path(sys.executable).with_name("pi"))


def install() -> None:
    """Install the packages, with what they import, as a user does."""
    agent = FOLDER / "agent"
    agent.mkdir(parents=True, exist_ok=True)
    environ = {**os.environ, "PI_CODING_AGENT_DIR": str(agent), "HOME": str(FOLDER)}
    for package in PACKAGES:
        subprocess.run([pi(), "install", f"npm:{package.name}"], cwd=FOLDER, env=environ, check=True)


def with_packages(
    model: Model, *, ours: bool, file: Path | None, home: Path, only: str = ""
) -> tuple[list[str], Path, dict[str, str]]:
    """Prepare this pi with the packages, or with one of them, as ``typescript_examples.program`` does."""
    command, work, environ = program(model, ours=ours, file=file, home=home)
    agent, installed = home / ".pi" / "agent", FOLDER / "agent"
    (agent / "typescript").unlink()
    for each in installed.iterdir():
        if each.name in ("packages", "typescript"):
            (agent / each.name).symlink_to(each)
        elif each.name == "pylock.pi.toml":
            shutil.copy(each, agent)
    settings = json.loads((agent / "settings.json").read_text(encoding="utf-8"))
    sources = json.loads((installed / "settings.json").read_text(encoding="utf-8"))["packages"]
    settings["packages"] = [each for each in sources if not only or f"npm:{only}" == each]
    (agent / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    models = json.loads((agent / "models.json").read_text(encoding="utf-8"))
    models["providers"]["p"]["models"].append({"id": "other"})
    (agent / "models.json").write_text(json.dumps(models), encoding="utf-8")
    (agent / "prompts").mkdir()
    (agent / "prompts" / "tide.md").write_text("---\nmodel: p/other\n---\nWhen is the tide?\n", encoding="utf-8")
    (work / "server.py").write_text(SERVER, encoding="utf-8")
    server = {"command": sys.executable, "args": ["-S", str(work / "server.py")]}
    config = home / ".config" / "mcp"
    config.mkdir(parents=True)
    (config / "mcp.json").write_text(json.dumps({"mcpServers": {"sea": server}}), encoding="utf-8")
    return command, work, environ


def use(packages: Sequence[Package]) -> list[Result]:
    """Use packages, all in one session, but for those that need a screen: each of these in one of its own."""
    found = []
    with tempfile.TemporaryDirectory(prefix="tsp") as folder:
        home = Path(folder) / "home"
        home.mkdir()
        run = Run(ours=True, file=None, home=home, prepare=with_packages)
        run.step(type="get_state")
        sessions = {_session(run)}
        for package in (each for each in packages if each.say):
            before = len(run.recording.ui), len(run.recording.events), len(run.model.requests)
            run.model.answers = [*package.answers]
            run.step(type="prompt", message=package.say)
            sessions.add(_session(run))
            ui, events = run.recording.ui[before[0] :], run.recording.events[before[1] :]
            models = [{"model": each["model"]} for each in run.model.requests[before[2] :]]
            seen = json.dumps([ui, events, models, {"sessions": len(sessions)}], ensure_ascii=False)
            found.append(Result(package, package.proof in seen.replace('\\"', '"'), seen))
        failure = run.end().failure
        if failure:
            found.append(Result(Package("session", "", "", ""), worked=False, seen=failure))
    return [*found, *(_use_on_screen(each) for each in packages if each.keys)]


def _session(run: Run) -> str:
    return str(run.step(type="get_state").get("data", {}).get("sessionId"))


def _use_on_screen(package: Package) -> Result:
    with tempfile.TemporaryDirectory(prefix="tsp") as folder:
        home = Path(folder) / "home"
        home.mkdir()
        model = Model()
        command, work, environ = with_packages(model, ours=True, file=None, home=home, only=package.name)
        try:
            script = Script(Part(".+"), [Step(package.keys, package.proof)])
            seen = screens(script, command, work, environ)
        finally:
            model.close()
    text = "\n".join(row for rows in seen for row in rows)
    return Result(package, package.proof in text and "does not come" not in text, text)


HEAD = """\
<!-- Made by tools/typescript_packages.py; change it there. -->

# Packages of the original's extensions

Ten npm packages with [extensions for the original](../typescript.md), installed unchanged with `pi install npm:NAME`.
Each was used once with a scripted model: nine of them in one session that has all ten, and the one that needs a screen
in a terminal.

| package | version | what was used | what happened |
| --- | --- | --- | --- |
"""


def page(results: Sequence[Result]) -> str:
    """Return the text of the page."""
    rows = []
    for each in sorted(results, key=lambda each: each.package.name):
        name, _, version = each.package.name.rpartition("@")
        happened_then = each.package.happens if each.worked else "it did not work"
        rows.append(f"| `{name}` | {version} | {each.package.used} | {happened_then} |")
    return HEAD + "\n".join(rows) + "\n"


def main() -> int:
    """Install, or use the packages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--install", action="store_true")
    if parser.parse_args().install:
        install()
        return 0
    if not node().exists() or not ORIGINAL.is_dir():
        sys.exit("Run tools/typescript_examples.py --install first: its Node.js runs the packages")
    results = use(PACKAGES)
    for each in results:
        print(f"{each.package.name}: {'works' if each.worked else f'does not work: {each.seen}'}")
    PAGE.write_text(page(results), encoding="utf-8")
    return 0 if all(each.worked for each in results) else 1


if __name__ == "__main__":
    sys.exit(main())
