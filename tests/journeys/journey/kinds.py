"""The kinds of sessions in which everything is tried: how each is made, and the state of the program that opens it."""

from __future__ import annotations

import json
import os
import subprocess
import sysconfig
import uuid
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from journey.processes import of_environment

from pi_client import BlockingPiClient, CommandFailed, commands

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from journey.model_server import ModelServer

MARK = "PI_JOURNEY"
"""An environment variable by which the processes of one journey are found, whatever has become of their parents."""

TOOL_CALLS: dict[str, dict[str, Any]] = {
    "read": {"path": "notes.txt"},
    "bash": {"command": "printf 'one\\n\\ttwo\\n'; exit 3"},
    "edit": {"path": "notes.txt", "edits": [{"oldText": "low", "newText": "high"}]},
    "write": {"path": "new/tide.txt", "content": "high\n"},
    "grep": {"pattern": "water "},
    "find": {"pattern": "*.txt"},
    "ls": {},
    "process": {"action": "list"},
    "fetch": {"url": "http://127.0.0.1:9/"},
    "load_skill": {"name": "tides"},
    "remember": {"text": "High water is at noon."},
    "forget": {"text": "High water is at noon."},
    "task": {"prompt": "ping helper", "description": "Ask for the tide"},
    "task_output": {"id": "0"},
    "codemode": {"code": "print(len(await gather(read(path='notes.txt'), bash(command='pwd'))))"},
    "generate_image": {"prompt": "a tide gauge"},
    "task_stop": {"id": "0"},
    "todo": {"action": "add", "text": "buy an almanac"},
}
"""A call of each tool that can be offered. A tool that is missing here fails a test."""

SERVER_PROCESS = {"command": "echo ready; sleep 600", "background": True, "name": "tide gauge"}


def call(tool: str, **arguments: Any) -> str:
    """Return a prompt after which the model calls a tool."""
    return f"call {tool} {json.dumps(arguments or TOOL_CALLS[tool])}"


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of sessions.

    Attributes:
        steps: What makes it: prompts and slash commands as texts; functions of the running program and the state.
        live: Texts that are sent again by the program in which everything is tried, before the rest.
        repository: Whether the folder is a git repository.
        settings: Settings of the user.
        files: Contents of further files, by their path in the home folder.
        arguments: Of the command line.
        size: Columns and rows of the terminal.
        open: Whether the stored session is opened; else the program begins a new one.
    """

    steps: tuple[str | Callable[[BlockingPiClient, State], object], ...] = ()
    live: tuple[str, ...] = ()
    repository: bool = True
    settings: dict[str, Any] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()
    size: tuple[int, int] = (100, 40)
    open: bool = True


class State:
    """A home and a working folder with a session of a kind.

    Args:
        kind: The kind.
        folder: An empty folder.
        programs: The folder with the command ``pi``.
        server: The model.

    Attributes:
        pi: The command.
        work: The working folder.
        environment: The environment of its programs.
        session: The session's file; None if there is none.
    """

    def __init__(self, kind: Kind, folder: Path, programs: Path, server: ModelServer) -> None:
        self.kind = kind
        self.pi = programs / "pi"
        self.home = folder / "home"
        self.work = folder / "work"
        self._mark = uuid.uuid4().hex
        self.environment = {
            "PATH": os.pathsep.join([str(programs), *_system_path()]),
            "HOME": str(self.home),
            "LC_ALL": "C.UTF-8",
            "PI_OFFLINE": "1",
            "EDITOR": "true",
            MARK: self._mark,
        }
        self.session: Path | None = None
        self._write(server)
        if kind.steps:
            self._make()

    def arguments(self) -> list[str]:
        """Return the words of a command line that opens the session."""
        words = [*self.kind.arguments]
        return [*words, "--session", str(self.session)] if self.session is not None and self.kind.open else words

    def processes(self) -> Mapping[int, str]:
        """Return the command lines of all processes of this state that still run."""
        return of_environment(MARK, self._mark)

    def client(self, *more: str) -> BlockingPiClient:
        """Start the program for programs."""
        words = [*self.kind.arguments, *more]
        return BlockingPiClient(*words, command=(str(self.pi),), cwd=self.work, env=self.environment, on_ui=_first)

    def _write(self, server: ModelServer) -> None:
        agent = self.home / ".pi" / "agent"
        default = {"defaultProvider": "harbour", "defaultModel": "tide-large", "defaultThinkingLevel": "off"}
        files = {
            "models.json": json.dumps(server.models_file()),
            "settings.json": json.dumps({**default, **self.kind.settings}),
            "skills/tides/SKILL.md": "---\nname: tides\ndescription: Reads tide tables.\n---\n\nRead the table.\n",
            "prompts/almanac.md": "---\ndescription: Asks for the almanac\n---\nping almanac $1\n",
            **self.kind.files,
        }
        self.work.mkdir(parents=True)
        for name, content in files.items():
            (agent / name).parent.mkdir(parents=True, exist_ok=True)
            (agent / name).write_text(content)
        (self.work / "notes.txt").write_text("low water  at six\n")
        if self.kind.repository:
            who = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
            for words in (["init", "-q"], ["add", "."], [*who, "commit", "-qm", "Begin"]):
                subprocess.run(["git", *words], cwd=self.work, env=self.environment, check=True)

    def _make(self) -> None:
        with self.client() as pi:
            for step in self.kind.steps:
                if isinstance(step, str):
                    with suppress(CommandFailed):
                        pi.ask(step)
                else:
                    step(pi, self)
            stored = pi.call(commands.GetState()).session_file
        self.session = Path(stored) if stored and Path(stored).exists() else None


def _system_path() -> list[str]:
    """Return the folders of programs without those of the project's environment."""
    own = sysconfig.get_path("scripts")
    return [folder for folder in os.environ["PATH"].split(os.pathsep) if folder != own]


def _first(request: Any) -> Any:
    """Answer a dialog with what is offered first."""
    return True if request.method == "confirm" else next(iter(request.options or ()), "tide")


def _fork(pi: BlockingPiClient, _state: State) -> None:
    messages = pi.call(commands.GetForkMessages()).messages
    pi.call(commands.Fork(entry_id=messages[-1].entry_id))


def _resume(pi: BlockingPiClient, _state: State) -> None:
    first = pi.call(commands.GetState()).session_file
    pi.call(commands.NewSession())
    pi.ask("ping second")
    pi.call(commands.SwitchSession(session_path=first))


def _lengthen(pi: BlockingPiClient, _state: State) -> None:
    """Append to the file of the session until it has 5,000 entries, and open it again."""
    path = Path(pi.call(commands.GetState()).session_file)
    entries = [json.loads(line) for line in path.read_text().splitlines()]
    pair = [each for each in entries if each["type"] == "message" and each["message"]["role"] in {"user", "assistant"}]
    parent = entries[-1]["id"]
    with path.open("a") as file:
        for number in range(len(entries), 5000):
            entry = {**pair[number % 2 - 2], "id": f"{number:08x}", "parentId": parent}
            file.write(json.dumps(entry) + "\n")
            parent = entry["id"]
    pi.call(commands.SwitchSession(session_path=str(path)))


BROKEN = """
from pi_hookspecs import Command, hookimpl


async def _fail(args, ctx):
    raise ZeroDivisionError("the tide table is empty")


@hookimpl
def register_commands():
    return [Command(name="broken", description="Fails", handler=_fail)]


@hookimpl
def session_start(event, ctx):
    raise ZeroDivisionError("the tide table is empty")


@hookimpl
async def tool_result(event, ctx):
    raise ZeroDivisionError("the tide table is empty")


@hookimpl
def message_end(event, ctx):
    raise ZeroDivisionError("the tide table is empty")
"""

ALL_TOOLS = ("--tools", "*")
EVERYTHING_ON = {
    "agents": {"enabled": True},
    "budgets": {"session": {"dollars": 5}},
    "guardrails": {"enabled": True},
    "memory": {"enabled": True},
    "notifications": {"terminal": "bell"},
    "rewind": {"enabled": True},
    "sandbox": {"mode": "auto"},
    "todo": {"enabled": True},
    "codemode": {"enabled": True},
    "imageGeneration": {"enabled": True},
}

KINDS: dict[str, Kind] = {
    "fresh": Kind(open=False),
    "fresh, without a repository, 20x6": Kind(open=False, repository=False, size=(20, 6)),
    **{
        f"after {tool}": Kind(steps=(call(tool),), arguments=ALL_TOOLS)
        for tool in ("read", "bash", "edit", "write", "grep", "find", "ls", "process", "fetch", "load_skill")
    },
    "after all tools, without a repository, 60x20": Kind(
        steps=tuple(map(call, ("read", "bash", "edit", "write", "grep", "find", "ls", "process"))),
        arguments=ALL_TOOLS,
        repository=False,
        size=(60, 20),
    ),
    "after all tools, 20x6": Kind(
        steps=tuple(map(call, ("read", "bash", "edit", "write", "grep", "find", "ls", "process"))),
        arguments=ALL_TOOLS,
        size=(20, 6),
    ),
    "after a compaction": Kind(
        steps=(*("ping one" for _ in range(6)), "/compact"), settings={"compaction": {"keepRecentTokens": 5}}
    ),
    "after a fork": Kind(steps=("ping one", "ping two", _fork, "ping three")),
    "after a clone": Kind(steps=("ping one", lambda pi, _state: pi.call(commands.Clone()), "ping two")),
    "after a resume": Kind(steps=("ping one", _resume, "ping two")),
    "after a rewind": Kind(steps=("ping one", call("write"), "ping two", "/rewind", "/rewind undo")),
    "after agents": Kind(
        steps=(call("task"), call("task", prompt="ping two", description="Ask", background=True)),
        settings={"agents": {"enabled": True}},
    ),
    "with a background process": Kind(steps=("ping one",), live=(call("bash", **SERVER_PROCESS),)),
    "after a background process": Kind(steps=(call("bash", **SERVER_PROCESS), "ping two")),
    "after a failed answer": Kind(steps=("ping one", "fail"), live=("fail",)),
    "with a plugin that fails": Kind(
        steps=(call("bash"),), files={"extensions/broken.py": BROKEN}, live=("/broken", call("read"))
    ),
    "after a reload": Kind(steps=("ping one",), live=("/reload",)),
    "named": Kind(steps=("ping one", lambda pi, _state: pi.call(commands.SetSessionName(name="Tides of Brest")))),
    "with everything on": Kind(
        steps=(*map(call, ("bash", "write", "todo", "task", "remember", "forget", "codemode")), "/compact"),
        settings=EVERYTHING_ON,
        arguments=ALL_TOOLS,
    ),
    "with 5,000 entries": Kind(steps=("ping one", _lengthen)),
}
