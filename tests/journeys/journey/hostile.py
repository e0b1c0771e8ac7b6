"""Plugins that misbehave: each kind of plugin code with each misbehaviour, as data.

A plugin misbehaves while the variable ``HOSTILE`` has the name of a row. The plugin ``armed`` sets it from ``[NAME]``
at the beginning of a prompt, so that the plugins of many rows share a process, and each may go on misbehaving in the
prompt that follows.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from textwrap import indent
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["KINDS", "MISBEHAVIOURS", "ROWS", "Row", "files_of", "grouped", "squeezed"]

ARMED = """
import os

from pi_hookspecs import InputResult, hookimpl


@hookimpl
def input(event):
    if not event.text.startswith("["):
        return None
    os.environ["HOSTILE"], _, text = event.text[1:].partition("] ")
    return InputResult(text=text)
"""

HEAD = """
import asyncio, os, re, socket, subprocess, sys, threading, time, urllib.request

from pi_hookspecs import (
    Command, MessageBuilder, Model, ProviderInfo, VirtualModel, hookimpl, tool,
)


def is_hostile():
    return os.environ.get("HOSTILE") in FUNCTIONS


def misbehave(event=None, ctx=None):
    return FUNCTIONS[os.environ["HOSTILE"]](event, ctx)


FUNCTIONS = {}
FUNCTIONSCODE
"""

PROGRAM = """
import json, os, sys, time


def send(**message):
    print(json.dumps(message), flush=True)


def misbehave():
BODY


send(type="ready", contract="1.1", hooks={"before_agent_start": {}}, registers={})
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hook":
        answer = misbehave() if "ping NAME" in line else None
        send(type="answer", id=message["id"], answer=answer)
"""

BLOCKED = ("Plugin 'NAME' has blocked everything else for", "NAME.py, line")
FAILED = ("Plugin 'NAME' failed", "broken", "NAME.py, line")
FORKED = ("Plugin 'NAME' called os.fork",)


@dataclass(frozen=True)
class Misbehaviour:
    """What a plugin does.

    Attributes:
        body: The code of ``misbehave``.
        says: What pi says then; ``NAME`` stands for the plugin.
    """

    body: str
    says: tuple[str, ...] = ()


MISBEHAVIOURS = {
    "computes": Misbehaviour("while True: pass", BLOCKED),
    "swallows": Misbehaviour(
        """
while True:
    try:
        time.sleep(600)
    except BaseException:
        pass
""",
        BLOCKED,
    ),
    "sleeps": Misbehaviour("time.sleep(600)", BLOCKED),
    "matches": Misbehaviour('re.match(r"(a+)+$", "a" * 60 + "b")', BLOCKED),
    "fetches": Misbehaviour(
        """
with socket.create_server(("127.0.0.1", 0)) as silent:
    urllib.request.urlopen(f"http://127.0.0.1:{silent.getsockname()[1]}")
""",
        BLOCKED,
    ),
    "runs": Misbehaviour('subprocess.run([sys.executable, "-c", "import time; time.sleep(600)"])', BLOCKED),
    "waits": Misbehaviour("return asyncio.Event().wait()", ("Waiting for plugin 'NAME'",)),
    "raises": Misbehaviour('raise ValueError("broken")', FAILED),
    "raises BaseException": Misbehaviour('raise BaseException("broken")', FAILED),
    "raises SystemExit": Misbehaviour('sys.exit("broken")', FAILED),
    "raises KeyboardInterrupt": Misbehaviour('raise KeyboardInterrupt("broken")', FAILED),
    "raises CancelledError": Misbehaviour('raise asyncio.CancelledError("broken")', FAILED),
    "returns nothing": Misbehaviour("return None"),
    "returns a number": Misbehaviour("return 17", ("Plugin 'NAME' failed", "17")),
    "returns much": Misbehaviour('return "tide " * 2_000_000', ("Plugin 'NAME' failed", "'tide tide")),
    "prints": Misbehaviour('print("high water")', ("high water",)),
    "prints much": Misbehaviour('print("tide tables " * 200_000)', ("tide tables",)),
    "notifies": Misbehaviour('for number in range(2_000): ctx.ui.notify(f"tide {number}")'),
    "updates": Misbehaviour('for number in range(2_000): ctx.update(f"tide {number}")'),
    "forks": Misbehaviour("if os.fork() == 0: return None", FORKED),
    "forks and raises": Misbehaviour('if os.fork() == 0: raise ValueError("broken")', FORKED),
    "changes": Misbehaviour("event.messages[:] = []", ("Plugin 'NAME' failed", "NAME.py, line")),
    "ends": Misbehaviour("os._exit(7)", ("Plugin 'NAME' ended pi: it called os._exit(7) in", "NAME.py, line")),
    "crashes": Misbehaviour("import ctypes; ctypes.string_at(0)"),
}

BLOCKING = ("computes", "swallows", "sleeps", "matches", "fetches", "runs")
BLOCKING_FEW = ("swallows", "sleeps", "matches")
RAISING_IN_TASKS = ("raises", "raises BaseException", "raises SystemExit", "raises KeyboardInterrupt")
RAISING = (*RAISING_IN_TASKS, "raises CancelledError")
NONSENSE = ("returns nothing", "returns a number", "returns much")
FORKING = ("forks", "forks and raises")
DRAWING = (
    "swallows",
    "matches",
    "raises",
    "raises KeyboardInterrupt",
    "returns a number",
    "returns much",
    "prints",
    "forks",
)
FLOODING = ("prints", "prints much", "notifies")
"""What comes last of a kind: of a flood, the screen leaves out what is printed within a second, of others as well."""
ENDING = ("ends", "crashes")


FAILING_IN_PRINT_MODE = ("swallows", "raises", "raises KeyboardInterrupt", "returns a number")
"""What is tried in print mode of the kinds whose prompt fails, as each row needs two processes there."""


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of plugin code.

    Attributes:
        source: The code of a plugin, which calls ``misbehave``.
        does: What it does, keys of ``MISBEHAVIOURS``.
        says: What pi says of it in other words than usual, by the misbehaviour.
        prompt: Lets it misbehave.
        before: A prompt before that, which sets the row.
        shared: Whether one plugin has all its misbehaviours, because there is room for one such plugin only. It does
            not misbehave in the prompt that follows.
        fails: Whether the prompt fails, so that print mode sends no other.
        ends: Whether pi ends.
        afterwards: What pi says at the next start, if it ends.
        never: What must not be stored: what a refused call would have returned.
        at_start: Whether it misbehaves at the start, before there is a prompt.
        at_exit: Whether pi says so when it exits.
        keys: What a person presses on the screen to let it misbehave, in place of a prompt.
        modes: Where it is tried.
        why: Why it is not tried in the other mode.
        group: The kinds that share a process with it on the screen, if it is not alone there.
        few: What of ``does`` is tried on the screen; everything if it is empty.
        arguments: Of the command line.
        settings: Of the user.
    """

    source: str
    does: tuple[str, ...]
    says: dict[str, tuple[str, ...]] = field(default_factory=dict)
    prompt: str = "ping NAME"
    before: str = ""
    shared: bool = False
    fails: bool = False
    ends: bool = False
    afterwards: tuple[str, ...] = ("Plugin 'NAME' (end): the last pi", "NAME.py, line")
    never: str = ""
    at_start: bool = False
    at_exit: bool = False
    keys: str = ""
    modes: tuple[str, ...] = ("print", "screen")
    why: str = ""
    group: str = ""
    few: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    settings: dict[str, str] = field(default_factory=dict)


_SLOW = ("computes", "sleeps", "matches")
"""A deadline stops these at the start; one that swallows it is interrupted once a second."""

_RESULT = ("NAME", "broken")
"""What a tool raises is its result, for the model: the call has its name."""

KINDS = {
    "hook": Kind(
        source="""
@hookimpl
def turn_start(event, ctx):
    if is_hostile():
        misbehave(event, ctx)
""",
        does=(*BLOCKING, *RAISING, *FORKING, *FLOODING),
    ),
    "async hook": Kind(
        source="""
@hookimpl
async def context(event, ctx):
    await asyncio.sleep(0)
    if is_hostile():
        answer = misbehave(event, ctx)
        return await answer if hasattr(answer, "__await__") else answer
""",
        does=(*BLOCKING, "waits", *RAISING, "returns a number", "returns much", *FORKING, "changes"),
        few=("swallows", "waits", *RAISING, "returns a number", "forks", "changes"),
    ),
    "tool": Kind(
        source="""
@tool
async def NAME(ctx) -> str:
    "Misbehave."
    answer = misbehave(None, ctx)
    return await answer if hasattr(answer, "__await__") else answer


@hookimpl
def register_tools():
    return [NAME]
""",
        prompt="call NAME {}",
        does=(
            *BLOCKING,
            *RAISING,
            *NONSENSE,
            *FORKING,
            *FLOODING,
            "updates",
        ),
        says={
            **dict.fromkeys(RAISING_IN_TASKS, _RESULT),
            "raises CancelledError": ("Tool NAME was cancelled",),
            "returns a number": ("Tool 'NAME' returned int",),
            "returns much": (),
        },
    ),
    "function tool": Kind(
        source="""
@tool
def NAME(ctx) -> str:
    "Misbehave."
    return misbehave(None, ctx)


@hookimpl
def register_tools():
    return [NAME]
""",
        prompt="call NAME {}",
        does=(*RAISING, *NONSENSE, *FLOODING, "updates"),
        says={
            **dict.fromkeys(RAISING_IN_TASKS, _RESULT),
            "raises CancelledError": ("NAME",),
            "returns a number": ("Tool 'NAME' returned int",),
            "returns much": (),
        },
    ),
    "command": Kind(
        source="""
async def handler(arguments, ctx):
    answer = misbehave(None, ctx)
    return await answer if hasattr(answer, "__await__") else answer


@hookimpl
def register_commands():
    return [Command(name="NAME", description="Misbehave.", handler=handler)]
""",
        before="ping before",
        prompt="/NAME",
        does=(*BLOCKING, *RAISING, *FORKING, *FLOODING),
        few=(*BLOCKING_FEW, *RAISING, *FORKING, *FLOODING),
    ),
    "event handler": Kind(
        source="""
@hookimpl
def activate(pi):
    pi.events.on("NAME")(misbehave)

    @pi.on("agent_start")
    def begin(event):
        if is_hostile():
            pi.events.emit("NAME", {})
""",
        does=(*BLOCKING_FEW, *RAISING, "forks"),
    ),
    "task": Kind(
        source="""
async def work():
    await asyncio.sleep(0)
    misbehave()


TASKS = set()


@hookimpl
async def agent_start(event):
    if is_hostile():
        task = asyncio.create_task(work())
        TASKS.add(task)
        task.add_done_callback(TASKS.discard)
        await asyncio.sleep(0.01)
""",
        does=(*BLOCKING_FEW, *RAISING_IN_TASKS, *FORKING),
    ),
    "callback": Kind(
        source="""
@hookimpl
async def agent_start(event):
    if is_hostile():
        asyncio.get_running_loop().call_soon(misbehave)
        await asyncio.sleep(0.01)
""",
        does=(*BLOCKING_FEW, *RAISING_IN_TASKS, *FORKING),
    ),
    "thread": Kind(
        source="""
@hookimpl
async def agent_start(event):
    if is_hostile():
        thread = threading.Thread(target=misbehave)
        thread.start()
        while thread.is_alive():
            await asyncio.sleep(0.01)
""",
        does=(*RAISING, "prints"),
    ),
    "operations": Kind(
        source="""
class Operations:
    def files(self, ctx):
        return misbehave(None, ctx) if is_hostile() else None

    def commands(self, ctx):
        return None


@hookimpl
def register_services():
    return [Operations()]
""",
        prompt='call read {"path": "notes.txt"}',
        does=(*BLOCKING_FEW, *RAISING, "returns a number", "forks"),
        says={**dict.fromkeys(RAISING, ("Plugin 'NAME'", "broken")), "returns a number": ("Plugin 'NAME'", "17")},
    ),
    "provider": Kind(
        source="""
class Provider:
    api = "NAME"

    async def stream(self, model, context, options):
        builder = MessageBuilder(model)
        yield builder.start()
        if is_hostile():
            yield misbehave(context)
        start = builder.text_start()
        yield start
        yield builder.text(start.content_index, context.messages[-1].text.replace("ping", "pong"))
        yield builder.text_end(start.content_index)
        yield builder.done()


@hookimpl
def register_providers():
    return [Provider()]


@hookimpl
def register_models():
    model = Model(id="one", name="One", api="NAME", provider="NAME")
    return [ProviderInfo(id="NAME", name="NAME", api="NAME", keyless=True, models=(model,))]
""",
        does=("swallows", *RAISING, "returns a number", "forks"),
        says={
            **dict.fromkeys(RAISING_IN_TASKS, ("Provider 'NAME' failed", "broken", "NAME.py, line")),
            "raises CancelledError": ("Provider 'NAME' cancelled its own request",),
            **dict.fromkeys(NONSENSE, ("Provider 'NAME' sent an unknown",)),
        },
        shared=True,
        fails=True,
        arguments=("--model", "NAME/one"),
    ),
    "router": Kind(
        source="""
def route(request, ctx):
    return misbehave(request, ctx) if is_hostile() else ("harbour/tide-small", None)


@hookimpl
def register_models():
    return [VirtualModel(provider="NAME", id="one", name="One", route=route)]
""",
        does=(*BLOCKING_FEW, *RAISING, "returns nothing", "returns a number", *FORKING),
        says={
            **dict.fromkeys(RAISING, ("of plugin 'NAME' chose no model", "broken", "NAME.py, line")),
            "returns nothing": ("of plugin 'NAME' chose no model", "None"),
            "returns a number": ("of plugin 'NAME' chose no model", "17"),
        },
        shared=True,
        fails=True,
        arguments=("--model", "NAME/one"),
    ),
    "retrier": Kind(
        source="""
class Retrier:
    def decide(self, message, attempt, ctx):
        return misbehave(message, ctx) if is_hostile() else None


@hookimpl
def register_services():
    return [Retrier()]
""",
        prompt="fail",
        does=FAILING_IN_PRINT_MODE,
        shared=True,
        fails=True,
    ),
    "compactor": Kind(
        source="""
class Compactor:
    async def compact(self, request, ctx):
        return misbehave(request, ctx)


@hookimpl
def register_services():
    return [Compactor()]
""",
        before="ping before",
        prompt="/compact",
        does=(*BLOCKING_FEW, *RAISING, "returns a number"),
        shared=True,
    ),
    "session store": Kind(
        source="""
from pi_session_jsonl.store import JsonlSessionStore


class Store(JsonlSessionStore):
    name = "NAME"

    def create(self, header, reference=None):
        stored = super().create(header, reference)
        append = stored.append

        def hostile(entries):
            if is_hostile():
                misbehave(entries)
            append(entries)

        stored.append = hostile
        return stored


@hookimpl
def register_session_stores():
    return [Store]
""",
        does=(*BLOCKING_FEW, *RAISING),
        shared=True,
        settings={"sessionStore": "NAME"},
    ),
    "renderer": Kind(
        source="""
from pi_hookspecs import ToolRenderer


@tool
def NAME() -> str:
    "Be drawn."
    return "water"


def render(result, *, width, expanded, partial):
    return misbehave() if is_hostile() else ["water"]


@hookimpl
def register_tools():
    return [NAME]


@hookimpl
def register_renderers():
    return [ToolRenderer("NAME", render_result=render)]
""",
        prompt="call NAME {}",
        does=DRAWING,
        modes=("screen",),
        group="surface",
        why="nothing is drawn there",
    ),
    "widget": Kind(
        source="""
class Widget:
    def __init__(self, screen):
        self.screen = screen
        SCREENS.append(screen)

    def render(self, width):
        return misbehave() if is_hostile() else []


SCREENS = []


@hookimpl
def session_start(event, ctx):
    ctx.ui.set_widget("NAME", Widget)


@hookimpl
def agent_start(event):
    for screen in SCREENS:
        screen.refresh()
""",
        does=DRAWING,
        modes=("screen",),
        group="surface",
        why="nothing is drawn there",
    ),
    "completer": Kind(
        source="""
def complete(typed):
    return FUNCTIONS["NAME"]()


async def handler(arguments, ctx):
    return None


@hookimpl
def register_commands():
    return [Command(name="NAME", description="Complete.", handler=handler, complete=complete)]
""",
        keys="/NAME t",
        does=DRAWING,
        modes=("screen",),
        group="surface",
        why="no keys are read there",
    ),
    "mention": Kind(
        source="""
@hookimpl
async def complete_mention(event, ctx):
    if event.text == "NAME":
        return FUNCTIONS["NAME"](event, ctx)
""",
        keys="@NAME",
        does=("swallows", "raises", "raises KeyboardInterrupt", "returns a number", "forks"),
        modes=("screen",),
        group="surface",
        why="no keys are read there",
    ),
    "shortcut": Kind(
        source="""
from pi_hookspecs import Shortcut


async def handler(ctx):
    misbehave(None, ctx)


@hookimpl
def register_shortcuts():
    return [Shortcut(name="f7", handler=handler, description="Misbehave.")]
""",
        before="ping before",
        keys="\x1b[18~",
        does=("raises", "raises KeyboardInterrupt", "prints", "notifies", "forks", "swallows"),
        shared=True,
        modes=("screen",),
        group="surface",
        why="no keys are read there",
    ),
    "guard": Kind(
        source="""
@hookimpl
def tool_call(event, ctx):
    return misbehave(event, ctx) if is_hostile() else None
""",
        prompt='call read {"path": "notes.txt"}',
        does=(*RAISING, "returns a number", "returns much", "swallows"),
        never="low water",
        group="surface",
    ),
    "thread that is left": Kind(
        source="""
@hookimpl
async def agent_end(event):
    if is_hostile():
        threading.Thread(target=misbehave, name="tide").start()
""",
        does=("sleeps",),
        says={"sleeps": ("thread 'tide' of plugin 'NAME'",)},
        at_exit=True,
        group="surface",
    ),
    "import": Kind(
        source="""
FUNCTIONS["NAME"]()
""",
        does=(*_SLOW, *RAISING, "forks and raises"),
        few=("sleeps", *RAISING, "forks and raises"),
        says={
            **dict.fromkeys(_SLOW, ("Plugin 'NAME' (import)", "took longer than 2 s")),
            **dict.fromkeys(RAISING, ("Plugin 'NAME' (import)", "broken", "NAME.py, line")),
        },
        at_start=True,
        group="start",
    ),
    "registration": Kind(
        source="""
@hookimpl
def register_tools():
    return FUNCTIONS["NAME"]()
""",
        does=(*_SLOW, *RAISING, "returns a number"),
        few=("sleeps", *RAISING, "returns a number"),
        says={
            **dict.fromkeys(_SLOW, ("Plugin 'NAME' (register_tools)", "took longer than 2 s")),
            **dict.fromkeys(RAISING, ("Plugin 'NAME' (register_tools)", "broken", "NAME.py, line")),
            "returns a number": ("Plugin 'NAME' (register_tools)", "17"),
        },
        at_start=True,
        group="start",
    ),
    "program": Kind(
        source=PROGRAM,
        does=("sleeps", "raises", "returns a number", "prints", "prints much", "forks", "ends"),
        says={
            "sleeps": ("Plugin 'NAME' failed", "no answer within"),
            "raises": ("Plugin 'NAME' failed",),
            "prints": ("Plugin 'NAME' failed",),
            "prints much": ("Plugin 'NAME' failed",),
            "forks": (),
            "ends": ("Plugin 'NAME' failed",),
        },
    ),
    "import that ends pi": Kind(
        source="""
FUNCTIONS["NAME"]()
""",
        does=ENDING,
        says={"ends": ("Plugin 'NAME' ended pi while it was loaded: it called os._exit(7) in", "NAME.py, line")},
        ends=True,
        at_start=True,
        afterwards=("Plugin 'NAME' (import): not loaded: loading it ends the process",),
        modes=("print",),
        why="pi ends before there is a screen",
    ),
    "tool that ends pi": Kind(
        source="""
@tool
async def NAME(ctx) -> str:
    "Misbehave."
    return misbehave(None, ctx)


@hookimpl
def register_tools():
    return [NAME]
""",
        before="ping before",
        prompt="call NAME {}",
        does=ENDING,
        ends=True,
    ),
    "hook that ends pi": Kind(
        source="""
@hookimpl
def turn_end(event, ctx):
    if is_hostile():
        misbehave(event, ctx)
""",
        does=ENDING,
        few=("ends",),
        ends=True,
    ),
    "thread that ends pi": Kind(
        source="""
@hookimpl
async def agent_end(event):
    if is_hostile():
        thread = threading.Thread(target=misbehave)
        thread.start()
        while thread.is_alive():
            await asyncio.sleep(0.01)
""",
        does=ENDING,
        few=("crashes",),
        ends=True,
    ),
}


@dataclass(frozen=True)
class Row:
    """A kind of plugin code with a misbehaviour.

    Attributes:
        kind: A key of ``KINDS``.
        does: A key of ``MISBEHAVIOURS``.
    """

    kind: str
    does: str

    @property
    def name(self) -> str:
        """What ``HOSTILE`` is set to."""
        return f"{self.kind} {self.does}".replace(" ", "_").lower()

    @property
    def keys(self) -> str:
        """What a person presses on the screen to let it misbehave; empty if it is a prompt."""
        return self.named(KINDS[self.kind].keys)

    @property
    def is_printed(self) -> bool:
        """Whether it is tried in print mode."""
        kind = KINDS[self.kind]
        return "print" in kind.modes and (not kind.fails or self.does in FAILING_IN_PRINT_MODE)

    @property
    def is_on_screen(self) -> bool:
        """Whether it is tried on the screen."""
        kind = KINDS[self.kind]
        return "screen" in kind.modes and self.does in (kind.few or kind.does)

    @property
    def plugin(self) -> str:
        """The plugin's name, also of its module."""
        return self.kind.replace(" ", "_") if KINDS[self.kind].shared else self.name

    @property
    def before(self) -> str:
        """A prompt before the one that lets it misbehave, which sets the row; empty if there is none."""
        before = KINDS[self.kind].before
        return f"[{self.name}] {before}" if before else ""

    @property
    def prompt(self) -> str:
        """What lets it misbehave."""
        kind = KINDS[self.kind]
        prompt = self.named(kind.prompt)
        return prompt if prompt.startswith("/") and kind.before else f"[{self.name}] {prompt}"

    @property
    def following(self) -> str:
        """The prompt that follows, and has to be answered with ``pong`` and the same word."""
        return f"[{'' if KINDS[self.kind].shared else self.name}] ping {self.word}"

    @property
    def word(self) -> str:
        """A word of the prompt that follows, which no other row has."""
        return f"after_{self.name}"

    @property
    def says(self) -> list[str]:
        """What pi has to say, without space."""
        says = KINDS[self.kind].says.get(self.does, MISBEHAVIOURS[self.does].says)
        return [squeezed(self.named(each)) for each in says]

    @property
    def afterwards(self) -> list[str]:
        """What pi has to say at the next start, without space."""
        return [squeezed(self.named(each)) for each in KINDS[self.kind].afterwards]

    def named(self, text: str) -> str:
        """Return a text of the table with the plugin's name."""
        return text.replace("NAME", self.plugin)


ROWS = [Row(kind, does) for kind in KINDS for does in KINDS[kind].does]


def grouped(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Return the rows that share a process, by their kind or by the group of their kinds."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(KINDS[row.kind].group or row.kind, []).append(row)
    return groups


def files_of(rows: Iterable[Row]) -> dict[str, str]:
    """Return the plugins of some rows, and ``armed``: the contents of files by their path in the agent's folder."""
    plugins: dict[str, list[Row]] = {}
    for row in rows:
        plugins.setdefault(row.plugin, []).append(row)
    files = {"extensions/armed.py": ARMED}
    for name, those in plugins.items():
        files |= _program(name, *those) if KINDS[those[0].kind].source is PROGRAM else _module(name, those)
    return files


def _module(name: str, rows: Iterable[Row]) -> dict[str, str]:
    functions, source = "", ""
    for row in rows:
        body = indent(MISBEHAVIOURS[row.does].body.strip(), "    ")
        functions += f"\n\ndef {row.name}(event=None, ctx=None):\n{body}\n\n\nFUNCTIONS['{row.name}'] = {row.name}\n"
        source = row.named(KINDS[row.kind].source)
    return {f"extensions/{name}.py": HEAD.replace("FUNCTIONSCODE", functions) + source}


def _program(name: str, row: Row) -> dict[str, str]:
    body = indent(MISBEHAVIOURS[row.does].body.strip(), "    ")
    manifest = {"name": name, "command": ["{python}", "plugin.py"], "contract": "1.1"}
    folder = f"extensions/{name}"
    source = row.named(PROGRAM).replace("BODY", body)
    return {f"{folder}/pi_plugin.json": json.dumps(manifest), f"{folder}/plugin.py": source}


def squeezed(text: str) -> str:
    """Return a text without space, to find in it what is broken into rows."""
    return "".join(text.split())
