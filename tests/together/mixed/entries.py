"""Draws session files: entries of all kinds and of all plugins, some from other versions, in a tree."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from attrs import define, field
from hypothesis import strategies as st

from pi_agents.member import ENTRY as AGENT
from pi_agents.member import Member
from pi_cache_lint.chain import Digests, chain_of
from pi_cache_lint.first import ENTRY as CACHE
from pi_cache_lint.line import Line, Section
from pi_cache_lint.record import to_record
from pi_core.conversation.left_out import LEFT_OUT
from pi_core.conversation.restore import FINISHED_CALL, LOADED_TOOLS
from pi_hookspecs import Usage
from pi_rewind.points import ENTRY as CHECKPOINT
from pi_todo_list.list import ENTRY as TODO

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["CUSTOM_TYPES", "Drawn", "drawn_sessions", "odd_calls", "odd_entries"]

STAMP = "2026-01-02T03:04:05.678Z"
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
"""The id of git's empty tree."""

USAGE = {"input": 3, "output": 5, "cacheRead": 7, "cacheWrite": 0, "totalTokens": 15}
USAGE["cost"] = {"input": 0.25, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0.25}  # type: ignore[assignment]

WORDS = st.text(st.sampled_from("ab \n\té\N{GRINNING FACE}\x1b<*`"), max_size=12)
NUMBERS = st.none() | st.booleans() | st.integers(-3, 10**20) | st.sampled_from([0.5, -1e300])
JSON = st.recursive(
    NUMBERS | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)


@define
class Drawn:
    """A session file.

    Attributes:
        lines: Its lines, as data; the header has no folder yet.
        prompts: The texts of its user messages.
        branch: Those of the branch that ends with its last entry.
        kinds: What it consists of, for the message of a failure.
    """

    lines: list[dict[str, Any]] = field(factory=list)
    prompts: list[str] = field(factory=list)
    branch: list[str] = field(factory=list)
    kinds: list[str] = field(factory=list)

    def write(self, cwd: str) -> bytes:
        """Return the file of a session in a folder."""
        header = {"type": "session", "version": 3, "id": "c0ffee00-0000-7000-8000-000000000000", "timestamp": STAMP}
        return b"".join(json.dumps(line).encode() + b"\n" for line in [{**header, "cwd": cwd}, *self.lines])


class Writer:
    """Appends entries, each to the last one or to any earlier one.

    Args:
        draw: Draws a value of a strategy.
    """

    def __init__(self, draw: Callable[[Any], Any]) -> None:
        self.draw = draw
        self.drawn = Drawn()
        self.leaf: str | None = None
        self.last_prompt = "ffffffff"

    @property
    def ids(self) -> list[str]:
        return [line["id"] for line in self.drawn.lines]

    def entry(self, kind: str, /, **fields: Any) -> str:
        """Append an entry and return its id."""
        number = f"{len(self.drawn.lines) + 1:08x}"
        self.drawn.lines.append({"type": kind, "id": number, "parentId": self.leaf, "timestamp": STAMP, **fields})
        self.leaf = number
        return number

    def message(self, role: str, **fields: Any) -> str:
        return self.entry("message", message={"role": role, "timestamp": 1_767_323_045_678, **fields})

    def custom(self, custom_type: str, data: Any) -> str:
        return self.entry("custom", customType=custom_type, **({} if data is None else {"data": data}))

    def any_id(self) -> str:
        return self.draw(st.sampled_from(self.ids)) if self.ids else "ffffffff"

    def prompt(self, *more: Any) -> str:
        self.last_prompt = f"{len(self.drawn.lines) + 1:08x}"
        text = f"prompt{len(self.drawn.prompts)}x"
        self.drawn.prompts.append(text)
        return self.message("user", content=[{"type": "text", "text": text}, *more] if more else text)

    def answer(self, *content: Any, stop: str = "stop", **fields: Any) -> str:
        known = {"api": "scripted", "provider": "scripted", "model": "model", "usage": USAGE, "stopReason": stop}
        return self.message("assistant", content=[*content], **{**known, **fields})

    def call(
        self, name: str, arguments: Any, *, result: bool = True, details: Any = None, failed: bool = False
    ) -> None:
        call_id = f"call_{len(self.drawn.lines)}"
        self.answer({"type": "toolCall", "id": call_id, "name": name, "arguments": arguments}, stop="toolUse")
        if result:
            more = {} if details is None else {"details": details}
            content = [text("done"), {"type": "image", "data": PIXEL, "mimeType": "image/png"}][: 2 if failed else 1]
            self.message("toolResult", toolCallId=call_id, toolName=name, content=content, isError=failed, **more)


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


# Data of plugins, as they write it: everything that one of them writes


def _agents(_writer: Writer) -> list[Any]:
    from pi_agents.roster import Agent

    return [Member(Agent("general"), "Do it", "a task", file="/nowhere/x.jsonl", state="done", turns=2).record()]


def _caches(writer: Writer) -> list[Any]:
    payload = {"model": "m", "system": "Be brief", "messages": [{"role": "user", "content": "hi"}], "tools": ["read"]}
    chain = chain_of(payload, Digests(), lambda name: {"name": name})
    assert chain is not None
    line = Line(
        chain=chain,
        usage=Usage(input=1000, cache_read=10),
        started=1.0,
        leaf=writer.leaf,
        level="high",
        prompt="x",
        sections=(Section("a", "b", None, "system_prompt"),),
    )
    found = {"request": "2f", "kind": "avoidable", "link": "tools[0]", "plugin": "web", "hook": None, "dollars": 0.02}
    return [{"chain": {"keep": 0, **to_record(line)}}, {"break": found}]


def _checkpoints(writer: Writer) -> list[Any]:
    before = {"kind": "before", "tree": TREE, "entry": writer.last_prompt, "leftOut": ["big.bin", "inner/"]}
    after = {"kind": "after", "tree": TREE}
    restored = {"kind": "restored", "tree": TREE, "undo": TREE, "to": writer.last_prompt, "leaf": None}
    return [before, after, restored, {"kind": "restored", "to": writer.last_prompt}]


def _refusals(_writer: Writer) -> list[Any]:
    return [{"toolCallId": "call_1", "tool": "bash", "refused": ["Not allowed: /etc/passwd is protected."]}]


CUSTOM_TYPES: dict[str, Callable[[Writer], list[Any]]] = {
    AGENT: _agents,
    CACHE: _caches,
    CHECKPOINT: _checkpoints,
    LEFT_OUT: lambda _: [
        {"kind": "picture", "ids": ["8-0123456789abcdef"], "what": "the newest picture", "why": "400 invalid image"},
        {"kind": "tool", "ids": ["search"], "what": "the tool 'search'", "why": "400 tools.1: bad schema"},
        {"putBack": ["00000001"]},
    ],
    LOADED_TOOLS: lambda _: [{"names": ["read", "no-such-tool"]}],
    "sandbox": _refusals,
    TODO: lambda _: [[{"text": "buy milk", "done": False}, {"text": "drink it", "done": True}]],
    FINISHED_CALL: lambda _: [
        {
            "role": "toolResult",
            "toolCallId": "call_1",
            "toolName": "task",
            "content": [text("done")],
            "isError": False,
            "timestamp": 1,
            "usage": USAGE,
        }
    ],
    "of-a-stranger": lambda _: [{"cards": [1, 2]}],
}
"""The custom types that the plugins of the project append, and one of a plugin that is not installed."""


@st.composite
def _elsewhere(draw: Any, data: Any) -> Any:
    """Draw data of another version: something else, or the same with fields that are missing, other, or new."""
    if draw(st.integers(0, 3)) == 0:
        return draw(JSON)
    if isinstance(data, dict) and data:
        key = draw(st.sampled_from(sorted(data)))
        change = draw(st.sampled_from(["drop", "other", "inner", "more"]))
        if change == "drop":
            return {name: value for name, value in data.items() if name != key}
        if change == "more":
            return {**data, "later": draw(JSON)}
        return {**data, key: draw(_elsewhere(data[key]) if change == "inner" else JSON)}
    if isinstance(data, list) and data:
        at = draw(st.integers(0, len(data) - 1))
        return [*data[:at], draw(_elsewhere(data[at])), *data[at + 1 :]]
    return draw(JSON)


def odd_versions(data: Any) -> Iterator[Any]:
    """Yield what other versions may have written: something else, or one field that is missing, other, or new."""
    yield from ODD
    if isinstance(data, dict):
        yield {**data, "later": [1]}
        for key, value in data.items():
            yield {name: each for name, each in data.items() if name != key}
            yield from ({**data, key: odd} for odd in odd_versions(value))
    elif isinstance(data, list):
        yield [*data, *data]
        yield data[:-1]
        if data:
            yield from ([odd, *data[1:]] for odd in odd_versions(data[0]))


ODD = (None, True, 10**400, "--help", [None], {"a": {"b": None}})


def _plugin_entry(custom_type: str) -> Callable[[Writer], None]:
    def write(writer: Writer) -> None:
        data = writer.draw(st.sampled_from(CUSTOM_TYPES[custom_type](writer)))
        writer.custom(custom_type, data if writer.draw(st.booleans()) else writer.draw(_elsewhere(data)))

    return write


# Entries of all kinds


def _exchange(writer: Writer) -> None:
    writer.prompt()
    writer.answer({"type": "thinking", "thinking": "Hm."}, text("An **answer**. " * 60))


def _pictures(writer: Writer) -> None:
    writer.prompt({"type": "image", "data": PIXEL, "mimeType": "image/png"})
    writer.answer(text("Seen."))


TOOLS: dict[str, dict[str, Any]] = {
    "read": {"path": "a.txt", "offset": 1, "limit": 5},
    "bash": {"command": "ls -l"},
    "edit": {"path": "a.txt", "edits": [{"oldText": "a", "newText": "b"}]},
    "write": {"path": "a.txt", "content": "x\n"},
    "grep": {"pattern": "x", "path": "."},
    "find": {"pattern": "*.py"},
    "ls": {"path": "."},
    "process": {"action": "list"},
    "task": {"prompt": "Do it", "agent": "general"},
    "todo": {"action": "add", "text": "buy milk"},
    "fetch": {"url": "https://example.org"},
    "no-such-tool": {"a": [1, None]},
}
"""Tools of the project, and usual arguments."""


def _tools(writer: Writer) -> None:
    """Calls as pi makes them, and those of a tool with the same name from elsewhere."""
    name = writer.draw(st.sampled_from(sorted(TOOLS)))
    arguments = TOOLS[name] if writer.draw(st.booleans()) else writer.draw(st.dictionaries(WORDS, JSON, max_size=3))
    if writer.draw(st.booleans()):
        arguments = {**arguments, **{key: writer.draw(JSON) for key in sorted(TOOLS[name])[:1]}}
    writer.prompt()
    details = writer.draw(st.sampled_from([None, {"diff": "+1 x"}, {"diff": 5}]) | JSON)
    has_result = writer.draw(st.booleans())
    writer.call(name, arguments, result=has_result, details=details, failed=writer.draw(st.booleans()))
    if has_result:
        writer.answer(text("Done."))


def _ended(writer: Writer) -> None:
    writer.prompt()
    stop = writer.draw(st.sampled_from(["error", "aborted", "length"]))
    writer.answer(stop=stop, errorMessage="529 overloaded", usage={**USAGE})


def _custom_message(writer: Writer) -> None:
    content = writer.draw(st.sampled_from(["A *note*", [text("A note")], []]))
    details = {"details": writer.draw(JSON)} if writer.draw(st.booleans()) else {}
    kind = writer.draw(st.sampled_from([*CUSTOM_TYPES, "mcp"]))
    writer.entry("custom_message", customType=kind, content=content, display=writer.draw(st.booleans()), **details)


def _label(writer: Writer) -> None:
    writer.entry(
        "label", targetId=writer.any_id(), **writer.draw(st.sampled_from([{"label": "pin"}, {"label": "a"}, {}]))
    )


def _branch_summary(writer: Writer) -> None:
    left, writer.leaf = writer.leaf, writer.draw(st.sampled_from([None, *writer.ids]))
    details = writer.draw(st.sampled_from([None, {"readFiles": ["a"], "modifiedFiles": []}]) | JSON)
    writer.entry("branch_summary", fromId=left or "root", summary="It was tried.", details=details)


def _compaction(writer: Writer) -> None:
    receipt = {"receipt": {"pinned": [{"text": "Keep this", "entryId": "00000001"}]}, "readFiles": ["a"]}
    details = writer.draw(st.just(receipt) | _elsewhere(receipt))
    first = writer.any_id()
    writer.entry("compaction", summary="So far.", firstKeptEntryId=first, tokensBefore=9, details=details, usage=USAGE)


def _move(writer: Writer) -> None:
    writer.leaf = writer.any_id() if writer.ids else None


def _edit(writer: Writer) -> None:
    replacement = writer.draw(st.sampled_from([None, {"content": "less"}, {"content": [text("less")]}]))
    writer.entry("context_edit", targetId=writer.any_id(), replacement=replacement)


def _unknown_role(writer: Writer) -> None:
    writer.message(writer.draw(st.sampled_from(["oracle", "custom", "developer"])), content=writer.draw(JSON))


def _unknown_block(writer: Writer) -> None:
    block = {"type": "hologram", "data": writer.draw(JSON)}
    writer.prompt(block)
    writer.answer(text("An answer"), block)


KINDS: dict[str, Callable[[Writer], object]] = {
    **{f"entry of {name}": _plugin_entry(name) for name in CUSTOM_TYPES},
    "exchange": _exchange,
    "pictures": _pictures,
    "tools": _tools,
    "failed or aborted answer": _ended,
    "custom message": _custom_message,
    "label": _label,
    "branch summary": _branch_summary,
    "compaction": _compaction,
    "model": lambda writer: writer.entry("model_change", provider="elsewhere", modelId="m2"),
    "level": lambda writer: writer.entry("thinking_level_change", thinkingLevel=writer.draw(LEVELS)),
    "name": lambda writer: writer.entry("session_info", name=writer.draw(st.sampled_from(["A name", ""]))),
    "usage": lambda writer: writer.entry("usage", kind="title", provider="p", model="m", usage=USAGE, note="x"),
    "context edit": _edit,
    "command": lambda writer: writer.message(
        "bashExecution", command="ls", output="a\n", exitCode=0, cancelled=False, truncated=False
    ),
    "unknown entry": lambda writer: writer.entry("of_the_future", what=writer.draw(JSON)),
    "unknown role": _unknown_role,
    "unknown block": _unknown_block,
    "move in the tree": _move,
}
LEVELS = st.sampled_from(["high", "off", "colossal"])


@st.composite
def drawn_sessions(draw: Any, kinds: list[str] | None = None) -> Drawn:
    """Draw a session of some kinds of entries, with at least one exchange; see ``Drawn``."""
    writer = Writer(draw)
    chosen = kinds or draw(st.lists(st.sampled_from(sorted(KINDS)), min_size=2, max_size=20))
    begin = draw(st.sampled_from([0, 0, len(chosen)]))
    for kind in [*chosen[:begin], "exchange", *chosen[begin:]]:
        KINDS[kind](writer)
        writer.drawn.kinds.append(kind)
    return _with_branch(writer)


def _with_branch(writer: Writer) -> Drawn:
    """Add what is on the branch of the last entry, where readers continue."""
    by_id = {line["id"]: line for line in writer.drawn.lines}
    at: str | None = writer.ids[-1]
    while at is not None:
        line = by_id[at]
        message = line.get("message", {})
        if message.get("role") == "user":
            content = message["content"]
            writer.drawn.branch.insert(0, content if isinstance(content, str) else content[0]["text"])
        at = line["parentId"]
    return writer.drawn


def odd_entries() -> Iterator[Drawn]:
    """Yield sessions with all data of plugins in all odd versions."""
    for custom_type, usual in CUSTOM_TYPES.items():
        for place in range(len(usual(Writer(FIRST)))):
            writer = Writer(FIRST)
            writer.drawn.kinds.append(f"{custom_type}, {place}")
            writer.prompt()
            for number, _ in enumerate(odd_versions(usual(writer)[place])):
                if custom_type == CHECKPOINT:
                    writer.prompt()
                writer.custom(custom_type, [*odd_versions(usual(writer)[place])][number])
            writer.answer(text("An answer"))
            yield _with_branch(writer)


def odd_calls() -> Iterator[Drawn]:
    """Yield sessions with calls of all tools whose arguments and details are odd."""
    for name, usual in TOOLS.items():
        writer = Writer(FIRST)
        writer.drawn.kinds.append(name)
        writer.prompt()
        for arguments in odd_versions(usual):
            if isinstance(arguments, dict):
                writer.call(name, arguments)
        for details in odd_versions({"diff": "+1 x"}):
            writer.call(name, usual, details=details)
        yield _with_branch(writer)


FIRST: Callable[[Any], Any] = next
"""In place of a function that draws, where nothing is drawn."""
