"""The implementation of ``About`` for a session in this process."""

from __future__ import annotations

import io
import json
import os
import time
from contextlib import redirect_stdout
from typing import TYPE_CHECKING

from pi_hookspecs import UserError
from pi_tui.port.about import HelpPage, Loaded, PluginRow, Trusted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pi_core.conversation import AgentSession
    from pi_core.host import PluginRecord
    from pi_tui.port.about import TrustAnswer

__all__ = ["LocalAbout"]

_KINDS = {"context": "Context", "skill": "Skills", "prompt": "Prompts"}
"""Kinds of resources that the header names, with their titles."""


class LocalAbout:
    """Implements ``About``.

    Args:
        session: The session.
    """

    def __init__(self, session: AgentSession) -> None:
        self._session = session

    def plugins(self) -> list[PluginRow]:
        """Return the plugins: those in the index, and local extensions."""
        return sorted(self._rows(), key=lambda row: row.name)

    def _rows(self) -> Iterator[PluginRow]:
        host = self._session.host
        calls: dict[str, tuple[int, float]] = {}
        for each in self._session.hooks.counters():
            count, total = calls.get(each.plugin, (0, 0.0))
            calls[each.plugin] = count + each.calls, total + each.total_ms
        for record in host.records.values():
            count, total = calls.get(record.name, (0, 0.0))
            yield self._row(record)._replace(calls=count, calls_ms=total)
        sources = {} if host.extensions is None else host.extensions.sources
        for name in host.added():
            path = str(sources[name].path or name) if name in sources else name
            count, total = calls.get(name, (0, 0.0))
            yield PluginRow(name, path, "enabled", None, count, total, self._problems(name))

    def _row(self, record: PluginRecord) -> PluginRow:
        host = self._session.host
        problems = (*(each.message for each in record.problems), *self._problems(record.name))
        load_ms = record.load_ms if record.indexed else None
        if record.name in host.disabled:
            return PluginRow(record.name, record.version, "disabled")
        if not record.loads:
            return PluginRow(record.name, record.version, "broken", problems=tuple(dict.fromkeys(problems)))
        row = PluginRow(record.name, record.version, "enabled", load_ms, problems=tuple(dict.fromkeys(problems)))
        return row if host.is_wanted(record) else row._replace(state="waiting")

    def why_no_command(self, name: str) -> str | None:
        """Return why a command of an installed plugin is not available here."""
        return self._session.host.why_no_command(name)

    def _problems(self, plugin: str) -> tuple[str, ...]:
        return tuple(each.message for each in self._session.host.problems if each.plugin == plugin)

    async def loaded(self) -> list[Loaded]:
        """Return the instructions, skills, prompts and extensions that the session uses, by kind."""
        found = []
        for kind, title in _KINDS.items():
            resources = (await self._session.ctx.resources.load(kind)).resources
            names = tuple(f"/{each.name}" if kind == "prompt" else each.name for each in resources)
            found.append(Loaded(title, names, tuple(each.path for each in resources)))
        extensions = self._session.host.extensions
        files = [each.path for each in extensions.sources.values() if each.path] if extensions is not None else []
        found.append(Loaded("Extensions", tuple(each.name for each in files), tuple(map(str, files))))
        return [each for each in found if each.names]

    # Trust

    def trust(self) -> Trusted:
        """Return the stored decision about the working directory."""
        from pi_core.settings.trust import ProjectTrust

        settings = self._session.settings
        default = settings.get_str("defaultProjectTrust", "ask") or "ask"
        found = ProjectTrust.decide(self._session.cwd, settings.agent_dir, default=default)
        return Trusted(str(found.cwd), str(found.cwd.parent), found.is_trusted, found.why, found.named_resources)

    def decide_trust(self, answer: TrustAnswer) -> None:
        """Store a decision about the working directory."""
        from pi_core.settings.trust import TrustStore

        store = TrustStore(self._session.settings.agent_dir)
        if answer == "parent":
            store.remember_parent(self._session.cwd)
        else:
            store.remember(self._session.cwd, trusted=None if answer == "forget" else answer == "trust")

    # Pages

    def help(self, topic: str) -> HelpPage:
        """Return the output of ``pi help TOPIC``."""
        text, code = self._output("help", [topic], "The pages of the documentation come with the plugin 'help'")
        return HelpPage(text, found=code == 0)

    def plugin(self, name: str) -> str:
        """Return the output of ``pi plugins show NAME``."""
        return self._output("plugins", ["show", name], "Descriptions of plugins come with the plugin 'cli'")[0]

    def _output(self, subcommand: str, arguments: list[str], origin: str) -> tuple[str, int]:
        """Return what a subcommand prints, and its exit code; ``origin`` says which plugin has it."""
        session = self._session
        found = session.registered.find("register_subcommands", subcommand)
        if found is None:
            raise UserError(f"{origin}, which is not loaded")
        printed = io.StringIO()
        with redirect_stdout(printed):
            code = found.thing.run(arguments, session.host)
        return printed.getvalue(), code

    # Files

    async def export(self, path: str | None) -> str:
        """Write the session into a file, and return the file's path."""
        return str(await self._session.export(path))

    def write_debug(self, rows: Iterable[str]) -> str:
        """Write the screen's rows and the session's entries into a file readable only by the user; return its path."""
        from pi_core.wire import to_wire

        branch = self._session.session_manager.get_branch()
        entries = [json.dumps(to_wire(each), ensure_ascii=False) for each in branch]
        text = "\n".join(["# The screen", *rows, "", "# The entries of the branch", *entries, ""])
        folder = self._session.settings.agent_dir / "logs"
        path = folder / f"screen-{time.strftime('%Y%m%d-%H%M%S')}.txt"
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            raise UserError(f"{path} could not be written: {error.strerror or error}") from error
        return str(path)
