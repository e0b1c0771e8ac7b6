"""The copy of pi's state that a process may keep: what has changed since the last message to it.

A program that runs code which cannot wait, such as extensions in TypeScript, reads from this copy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import evolve

from pi_core import to_wire

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pi_hookspecs import ContextUsage, PiAPI, PiContext

__all__ = ["StateWriter"]

_UNKNOWN = object()

_MOST_ENTRIES = 500
"""Entries in one message: a session may be longer than a message can be."""


class StateWriter:
    """Writes the state for one process, and remembers what it has."""

    def __init__(self) -> None:
        self._known: dict[str, Any] = {}
        self._entries: list[Any] = []
        self._session = ""

    async def changes(
        self, ctx: PiContext, pi: PiAPI, wanted: Iterable[str], flags: Iterable[str]
    ) -> list[dict[str, Any]]:
        """Return the changed parts, as the ``state`` of one message or of several.

        Args:
            ctx: The context of the session.
            pi: The ``pi`` of one of the plugins.
            wanted: The large parts that are asked for.
            flags: The names of options whose values are sent.
        """
        wanted = frozenset(wanted)
        commands = await pi.get_commands() if "commands" in wanted else ()
        state: dict[str, Any] = {}
        for part, value in self._parts(ctx, pi, wanted, tuple(flags), commands).items():
            known = self._known.get(part, _UNKNOWN)
            if known is not value and known != value:
                self._known[part] = value
                write = _WRITERS.get(part)
                state[part] = to_wire(value) if write is None else write(value, ctx)
        found = [state] if state else []
        if "entries" in wanted:
            pieces = self._new_entries(ctx)
            found = [*pieces[:-1], {**state, **pieces[-1]}] if pieces else found
        return found

    def _parts(
        self, ctx: PiContext, pi: PiAPI, wanted: frozenset[str], flags: Sequence[str], commands: Sequence[Any]
    ) -> Mapping[str, Any]:
        """Return each part's present value, which is compared, and written if it has changed."""
        session, ui = ctx.session, ctx.ui if ctx.has_ui else None
        parts: dict[str, Any] = {
            "cwd": str(ctx.cwd),
            "mode": ctx.mode,
            "hasUI": ui is not None,
            "trusted": ctx.is_project_trusted(),
            "model": ctx.model,
            "thinkingLevel": ctx.thinking_level,
            "scopedModels": tuple(ctx.scoped_models),
            "session": (session.id, session.file, session.name, session.leaf_id if "entries" in wanted else None),
            "activeTools": tuple(pi.get_active_tools()),
            "idle": ctx.is_idle(),
            "pending": ctx.has_pending_messages(),
            "theme": ui.theme if ui is not None else None,
            "toolsExpanded": ui is not None and ui.get_tools_expanded(),
            "editorText": ui.get_editor_text() if ui is not None else "",
        }
        if flags:
            parts["flags"] = {name: ctx.get_flag(name) for name in flags}
        if "usage" in wanted:
            parts["usage"] = _usage(ctx)
        if "settings" in wanted:
            parts["settings"] = ctx.settings.get(())
        if "systemPrompt" in wanted:
            parts["systemPrompt"] = ctx.system_prompt
        if "tools" in wanted:
            parts["tools"] = to_wire(pi.get_all_tools())
        if "commands" in wanted:
            parts["commands"] = to_wire(commands)
        if "models" in wanted:
            others = (each for kind in ("image", "classifier") for each in ctx.models.get_models_of_type(kind))
            parts["models"] = _Same(tuple(ctx.models.get_models()), tuple(ctx.models.available()), tuple(others))
        if "themes" in wanted:
            parts["themes"] = _Same(tuple(ctx.ui.get_all_themes()))
        return parts

    def _new_entries(self, ctx: PiContext) -> list[dict[str, Any]]:
        """Return the entries that the process does not have, in pieces."""
        entries = list(ctx.session.entries())
        kept = len(self._entries)
        is_longer = (
            ctx.session.id == self._session
            and len(entries) >= kept
            and (kept == 0 or (entries[kept - 1] is self._entries[-1] and entries[0] is self._entries[0]))
        )
        if not is_longer:
            kept = 0
        is_same = is_longer and len(entries) == kept and self._session
        self._entries, self._session = entries, ctx.session.id
        if is_same:
            return []
        starts = range(kept, len(entries), _MOST_ENTRIES) or [kept]
        return [
            {"entries": {"keep": start, "add": to_wire(entries[start : start + _MOST_ENTRIES])}} for start in starts
        ]


class _Same:
    """Compares tuples by the identity of their items: these do not change, and comparing their contents takes long."""

    def __init__(self, *values: tuple[Any, ...]) -> None:
        self.values = values
        self._items = [each for value in values for each in value]

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, _Same)
            and len(self._items) == len(other._items)
            and all(one is another for one, another in zip(self._items, other._items, strict=True))
        )

    __hash__ = None  # type: ignore[assignment]


def _session(_place: Any, ctx: PiContext) -> dict[str, Any]:
    session = ctx.session
    return {
        "id": session.id,
        "file": str(session.file) if session.file is not None else None,
        "name": session.name,
        "leafId": session.leaf_id,
        "header": to_wire(session.header),
        "cwd": str(ctx.cwd),
    }


def _usage(ctx: PiContext) -> ContextUsage | None:
    """Return how full the window is; a conversation that has not begun takes nothing of it."""
    usage = ctx.context_usage()
    if usage is None or usage.tokens is not None or any(each.type == "message" for each in ctx.session.entries()):
        return usage
    return evolve(usage, tokens=0, percent=0.0)


def _theme(theme: Any, _ctx: object = None) -> dict[str, Any] | None:
    if theme is None:
        return None
    return {"name": theme.name, "colors": to_wire(theme.colors), "vars": to_wire(theme.vars)}


def _themes(found: _Same, _ctx: object) -> list[dict[str, Any] | None]:
    (themes,) = found.values
    return [_theme(each) for each in themes]


def _models(found: _Same, _ctx: object) -> dict[str, Any]:
    models, available, others = found.values
    usable = [f"{each.provider}/{each.id}" for each in available]
    return {"all": to_wire(models), "available": usable, **({"others": to_wire(others)} if others else {})}


_WRITERS: dict[str, Callable[[Any, PiContext], Any]] = {
    "session": _session,
    "theme": _theme,
    "themes": _themes,
    "models": _models,
}
"""Functions that write parts which are not written as they are compared."""
