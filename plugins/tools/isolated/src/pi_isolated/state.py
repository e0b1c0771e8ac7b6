"""The copy of pi's state that a process may keep: what has changed since the last message to it.

A program that runs code which cannot wait, such as extensions in TypeScript, reads from this copy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import evolve

from pi_core.wire import to_wire

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pi_hookspecs import ContextUsage, PiAPI, PiContext

__all__ = ["StateWriter"]

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
        for part, (value, write) in self._parts(ctx, pi, wanted, tuple(flags), commands).items():
            if part not in self._known or self._known[part] != value:
                self._known[part] = value
                state[part] = write(value)
        found = [state] if state else []
        if "entries" in wanted:
            pieces = self._new_entries(ctx)
            found = [*pieces[:-1], {**state, **pieces[-1]}] if pieces else found
        return found

    def _parts(
        self, ctx: PiContext, pi: PiAPI, wanted: frozenset[str], flags: Sequence[str], commands: Sequence[Any]
    ) -> Mapping[str, tuple[Any, Callable[[Any], Any]]]:
        """Return each part's present value, which is compared, and the function that writes it."""
        session, ui = ctx.session, ctx.ui
        place = (session.id, session.file, session.name, session.leaf_id)
        parts: dict[str, tuple[Any, Callable[[Any], Any]]] = {
            "cwd": (str(ctx.cwd), to_wire),
            "mode": (ctx.mode, to_wire),
            "hasUI": (ctx.has_ui, to_wire),
            "trusted": (ctx.is_project_trusted(), to_wire),
            "model": (ctx.model, to_wire),
            "thinkingLevel": (ctx.thinking_level, to_wire),
            "scopedModels": (tuple(ctx.scoped_models), to_wire),
            "session": (place, lambda _: _session(ctx)),
            "activeTools": (tuple(pi.get_active_tools()), to_wire),
            "idle": (ctx.is_idle(), to_wire),
            "pending": (ctx.has_pending_messages(), to_wire),
            "theme": (_Same(ui.theme), lambda same: _theme(same.value)),
            "toolsExpanded": (ui.get_tools_expanded(), to_wire),
            "editorText": (ui.get_editor_text(), to_wire),
        }
        if flags:
            parts["flags"] = ({name: ctx.get_flag(name) for name in flags}, to_wire)
        if "usage" in wanted:
            parts["usage"] = (_usage(ctx), to_wire)
        if "systemPrompt" in wanted:
            parts["systemPrompt"] = (ctx.system_prompt, to_wire)
        if "tools" in wanted:
            parts["tools"] = (to_wire(pi.get_all_tools()), to_wire)
        if "commands" in wanted:
            parts["commands"] = (to_wire(commands), to_wire)
        if "models" in wanted:
            models, available = tuple(ctx.models.get_models()), tuple(ctx.models.available())
            parts["models"] = (_Same(models, available), lambda _: _models(models, available))
        if "themes" in wanted:
            themes = tuple(ui.get_all_themes())
            parts["themes"] = (_Same(themes), lambda _: [_theme(each) for each in themes])
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
    """Compares values by identity, item by item: they do not change, and comparing what they contain takes long."""

    def __init__(self, *values: Any) -> None:
        self.value = values[0]
        self._items = [each for value in values for each in (value if isinstance(value, tuple) else (value,))]

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, _Same)
            and len(self._items) == len(other._items)
            and all(one is another for one, another in zip(self._items, other._items, strict=True))
        )

    __hash__ = None  # type: ignore[assignment]


def _session(ctx: PiContext) -> dict[str, Any]:
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


def _theme(theme: Any) -> dict[str, Any] | None:
    if theme is None:
        return None
    return {"name": theme.name, "colors": to_wire(theme.colors), "vars": to_wire(theme.vars)}


def _models(models: Sequence[Any], available: Sequence[Any]) -> dict[str, Any]:
    return {"all": to_wire(models), "available": [f"{each.provider}/{each.id}" for each in available]}
