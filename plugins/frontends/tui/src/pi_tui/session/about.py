"""What commands of the screen show of pi itself: plugins, trust, pages, files, why a command is missing.

Only the session's own process knows most of it; over a connection it raises ``UserError``, which says so.
"""

from __future__ import annotations

import io
import json
import os
import time
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from pi_core import require_local
from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pi_core import AgentSession, Session
    from pi_core.host import PluginHost, PluginRecord

__all__ = ["About", "HelpPage", "Loaded", "PluginRow", "TrustAnswer", "Trusted"]

TrustAnswer: TypeAlias = Literal["trust", "parent", "refuse", "forget"]
"""The decision to store: trust the folder, trust its parent, refuse, or forget the decision."""


_TRUST = "Deciding about trust"

_KINDS = {"context": "Context", "skill": "Skills", "prompt": "Prompts"}
"""Kinds of resources that the header names, with their titles."""


class PluginRow(NamedTuple):
    """A plugin in the list of plugins.

    Attributes:
        version: The plugin's version; for a local extension, its path.
        state: ``enabled``, ``disabled``, ``waiting`` for the condition in its ``pi_when``, or ``broken``.
        load_ms: Milliseconds to import it; None if unknown.
        calls: Number of calls of its hooks in this session.
        calls_ms: Milliseconds that these calls took.
        problems: Messages about problems with it.
    """

    name: str
    version: str
    state: Literal["enabled", "disabled", "waiting", "broken"]
    load_ms: float | None = None
    calls: int = 0
    calls_ms: float = 0.0
    problems: tuple[str, ...] = ()


class Loaded(NamedTuple):
    """What a session has loaded of a kind.

    Attributes:
        title: The kind, in one word.
        names: The names, as they are typed or said.
        paths: The file of each.
    """

    title: str
    names: tuple[str, ...]
    paths: tuple[str, ...]


class Trusted(NamedTuple):
    """Whether files of a folder that can run code or instruct the model are used.

    Attributes:
        folder: The working directory.
        parent: The parent folder.
        is_trusted: Whether the files are used.
        why: The reason for the decision.
        resources: The files; empty if there are none.
    """

    folder: str
    parent: str
    is_trusted: bool
    why: str
    resources: str


class HelpPage(NamedTuple):
    """What ``pi help TOPIC`` prints: a page in Markdown, or, with ``found`` unset, the pages that mention the topic."""

    text: str
    found: bool


class About:
    """What is known of pi in a session.

    Args:
        session: The session.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    def plugins(self) -> list[PluginRow]:
        """Return the plugins: those in the index, and local extensions."""
        return sorted(_plugin_rows(self._local("Listing plugins")), key=lambda row: row.name)

    def why_no_command(self, name: str) -> str | None:
        """Return why a command of an installed plugin is not available here; None if none has it, or it is unknown."""
        local = self._session.local
        return None if local is None else local.host.why_no_command(name)

    async def loaded(self) -> list[Loaded]:
        """Return the instructions, skills, prompts and extensions that the session uses, by kind.

        Over a connection nothing: the header works without it.
        """
        local = self._session.local
        if local is None:
            return []
        found = []
        for kind, title in _KINDS.items():
            resources = (await local.ctx.resources.load(kind)).resources
            names = tuple(f"/{each.name}" if kind == "prompt" else each.name for each in resources)
            found.append(Loaded(title, names, tuple(each.path for each in resources)))
        extensions = local.host.extensions
        files = [each.path for each in extensions.sources.values() if each.path] if extensions is not None else []
        found.append(Loaded("Extensions", tuple(each.name for each in files), tuple(map(str, files))))
        return [each for each in found if each.names]

    # Trust

    def trust(self) -> Trusted:
        """Return the stored decision about the working directory."""
        from pi_core.settings.trust import ProjectTrust

        session = self._local(_TRUST)
        settings = session.settings
        default = settings.get_str("defaultProjectTrust", "ask") or "ask"
        found = ProjectTrust.decide(session.cwd, settings.agent_dir, default=default)
        return Trusted(str(found.cwd), str(found.cwd.parent), found.is_trusted, found.why, found.named_resources)

    def decide_trust(self, answer: TrustAnswer) -> None:
        """Store a decision about the working directory."""
        from pi_core.settings.trust import TrustStore

        session = self._local(_TRUST)
        store = TrustStore(session.settings.agent_dir)
        if answer == "parent":
            store.remember_parent(session.cwd)
        else:
            store.remember(session.cwd, trusted=None if answer == "forget" else answer == "trust")

    # Pages

    def help(self, topic: str) -> HelpPage:
        """Return the output of ``pi help TOPIC``: a page in Markdown, or the pages that mention the topic."""
        if self._session.local is None:
            raise UserError(f"To read the documentation, run this in a shell here: pi help {topic!r}")
        text, code = self._output("help", [topic], "The pages of the documentation come with the plugin 'help'")
        return HelpPage(text, found=code == 0)

    def plugin(self, name: str) -> str:
        """Return the output of ``pi plugins show NAME``: what a plugin registers, and what it costs."""
        if self._session.local is None:
            shell = "To read the description of a plugin, run this in a shell where the session runs"
            raise UserError(f"{shell}: pi plugins show {name}")
        return self._output("plugins", ["show", name], "Descriptions of plugins come with the plugin 'cli'")[0]

    def _output(self, subcommand: str, arguments: list[str], origin: str) -> tuple[str, int]:
        """Return what a subcommand prints, and its exit code; ``origin`` says which plugin has it."""
        session = self._local(subcommand)
        found = session.registered.find("register_subcommands", subcommand)
        if found is None:
            raise UserError(f"{origin}, which is not loaded")
        printed = io.StringIO()
        with redirect_stdout(printed):
            code = found.thing.run(arguments, session.host)
        return printed.getvalue(), code

    # Files

    async def export(self, path: str | None) -> str:
        """Write the session into a file, in the format given by its suffix, and return the file's path."""
        return str(await self._session.export(path))

    def write_debug(self, rows: Iterable[str]) -> str:
        """Write the screen's rows and the session's entries into a file readable only by the user; return its path."""
        from pi_core.wire import to_wire

        session = self._local("A report")
        entries = [json.dumps(to_wire(each), ensure_ascii=False) for each in session.get_branch()]
        text = "\n".join(["# The screen", *rows, "", "# The entries of the branch", *entries, ""])
        folder = session.settings.agent_dir / "logs"
        path = folder / f"screen-{time.strftime('%Y%m%d-%H%M%S')}.txt"
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            raise UserError(f"{path} could not be written: {error.strerror or error}") from error
        return str(path)

    def _local(self, what: str) -> AgentSession:
        return require_local(self._session, what)


def _plugin_rows(session: AgentSession) -> Iterator[PluginRow]:
    host = session.host
    calls: dict[str, tuple[int, float]] = {}
    for each in session.hooks.counters():
        count, total = calls.get(each.plugin, (0, 0.0))
        calls[each.plugin] = count + each.calls, total + each.total_ms
    for record in host.records.values():
        count, total = calls.get(record.name, (0, 0.0))
        yield _plugin_row(host, record)._replace(calls=count, calls_ms=total)
    sources = {} if host.extensions is None else host.extensions.sources
    for name in host.added():
        path = str(sources[name].path or name) if name in sources else name
        count, total = calls.get(name, (0, 0.0))
        yield PluginRow(name, path, "enabled", None, count, total, _problems(host, name))


def _plugin_row(host: PluginHost, record: PluginRecord) -> PluginRow:
    problems = (*(each.message for each in record.problems), *_problems(host, record.name))
    load_ms = record.load_ms if record.indexed else None
    if record.name in host.disabled:
        return PluginRow(record.name, record.version, "disabled")
    if not record.loads:
        return PluginRow(record.name, record.version, "broken", problems=tuple(dict.fromkeys(problems)))
    row = PluginRow(record.name, record.version, "enabled", load_ms, problems=tuple(dict.fromkeys(problems)))
    return row if host.is_wanted(record) else row._replace(state="waiting")


def _problems(host: PluginHost, plugin: str) -> tuple[str, ...]:
    return tuple(each.message for each in host.problems if each.plugin == plugin)
