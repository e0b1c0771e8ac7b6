"""Registers what a program implements with ``pi``, each thing as a function that asks the program."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any

from pi_hookspecs import Completion, PiError, PluginError, Tool, ToolResult

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pi_hookspecs import AbortSignal, PiContext, ToolContext, ToolUpdate
    from pi_isolated.plugin import Member
    from pi_isolated.ready import Ready

__all__ = ["UPDATES_PER_SECOND", "Registrations", "completion_of"]

UPDATES_PER_SECOND = 10
"""``message_update`` events that a plugin gets in a second at most."""

_FEWEST_UPDATES_PER_SECOND = 2
"""Events that it gets even if it takes long to answer."""

_PAUSE_PER_ANSWER = 40
"""The next event comes after so many times as long as a program takes for one."""

_ABOUT_TOOLS = {
    "label": "label",
    "promptSnippet": "prompt_snippet",
    "promptGuidelines": "prompt_guidelines",
    "executionMode": "execution_mode",
    "constrainedSampling": "constrained_sampling",
    "outputSchema": "output_schema",
    "exposure": "exposure",
    "namespace": "namespace",
}


class Registrations:
    """What one plugin has registered; it can change while the program runs.

    Args:
        member: The plugin.

    Attributes:
        hooks: The names of the hooks that are registered.
    """

    def __init__(self, member: Member) -> None:
        self._member = member
        self.hooks: set[str] = set()
        self._things: dict[tuple[str, str], tuple[Mapping[str, Any], Callable[[], None]]] = {}

    def take(self, ready: Ready) -> None:
        """Register what is new, replace what is described differently, and remove what is gone.

        A hook stays registered: whether the program is asked is decided at each event.
        """
        for hook in ready.hooks:
            if hook not in self.hooks:
                self.hooks.add(hook)
                self._add_hook(hook)
        add = {
            "tools": self._add_tool,
            "commands": self._add_command,
            "shortcuts": self._add_shortcut,
            "flags": self._add_flag,
            "renderers": self._add_renderer,
            "toolRenderers": self._add_tool_renderer,
            "virtualModels": self._add_virtual_model,
            "providers": self._add_provider,
            "channels": self._add_channel,
        }
        wanted = {(kind, name): each for kind in add for name, each in ready.of(kind).items()}
        for key in [*self._things]:
            described, remove = self._things[key]
            if wanted.get(key) != described:
                del self._things[key]
                remove()
        for (kind, name), described in wanted.items():
            if (kind, name) not in self._things:
                self._things[kind, name] = (described, add[kind](name, described))

    def _add_hook(self, hook: str) -> None:
        async def handle(event: Any, ctx: PiContext) -> Any:
            return await self._member.ask_hook(hook, event, ctx)

        self._member.pi.on(hook, self._update_handler() if hook == "message_update" else handle)

    def _update_handler(self) -> Any:
        """Return a handler that is called so seldom that a program cannot slow an answer down, which waits for it."""

        async def handle(event: Any, ctx: PiContext) -> None:
            # How long a start takes says nothing about the next call.
            is_running = self._member.process_of_session().process is not None
            started = monotonic()
            try:
                await self._member.ask_hook("message_update", event, ctx)
            finally:
                if is_running:
                    pause = min(_PAUSE_PER_ANSWER * (monotonic() - started), 1 / _FEWEST_UPDATES_PER_SECOND)
                    handle.pi_interval = max(pause, 1 / UPDATES_PER_SECOND)  # type: ignore[attr-defined]

        handle.pi_interval = 1 / UPDATES_PER_SECOND  # type: ignore[attr-defined]
        return handle

    def _add_tool(self, name: str, described: Mapping[str, Any]) -> Callable[[], None]:
        member = self._member

        async def execute(
            call_id: str, params: dict[str, Any], signal: AbortSignal, on_update: ToolUpdate, ctx: ToolContext
        ) -> ToolResult:
            process = await member.process(ctx)
            if name not in member.ready.tools:
                raise PluginError(member.name, f"it no longer has a tool {name!r}")
            message = {"type": "tool", "tool": name, "callId": call_id, "params": params}
            running = member.process_of_session()
            key = running.name_of(member, ctx)
            forget = signal.on_abort(lambda: process.cancel_all(key))
            try:
                from pi_isolated.events import read_result

                answer = await member.ask(process, message, ctx, lambda update: on_update(read_result(update)))
                return read_result(answer)
            finally:
                forget()
                running.forget(key)

        about = {ours: described[theirs] for theirs, ours in _ABOUT_TOOLS.items() if described.get(theirs)}
        if described.get("defaultActive") is False:
            about["default_active"] = False
        renders, is_framed = described.get("renders"), described.get("framed") is not False
        if renders or not is_framed:
            about["renderer"] = member.drawing.renderings.of_tool(name, renders or [], framed=is_framed)
        return member.pi.register_tool(
            Tool(
                name=name,
                description=described.get("description", ""),
                parameters=described["parameters"],
                execute=execute,
                **about,
            )
        )

    def _add_command(self, name: str, described: Mapping[str, Any]) -> Callable[[], None]:
        async def run(args: str, ctx: PiContext) -> None:
            await self._member.request({"type": "command", "command": name, "args": args}, ctx)

        async def complete(prefix: str) -> list[Completion]:
            from pi_isolated.streaming import context_of

            ctx = context_of(self._member)
            found = await self._member.request({"type": "complete", "command": name, "prefix": prefix}, ctx)
            return [completion_of(each) for each in found or ()]

        return self._member.pi.register_command(
            name,
            run,
            description=described.get("description", ""),
            complete=complete if described.get("completes") else None,
        )

    def _add_shortcut(self, key: str, described: Mapping[str, Any]) -> Callable[[], None]:
        async def run(ctx: PiContext) -> None:
            await self._member.request({"type": "shortcut", "key": key}, ctx)

        return self._member.pi.register_shortcut(key, run, description=described.get("description", ""))

    def _add_flag(self, name: str, described: Mapping[str, Any]) -> Callable[[], None]:
        return self._member.pi.register_flag(
            name,
            type=described.get("type", "boolean"),
            default=described.get("default"),
            description=described.get("description", ""),
        )

    def _add_renderer(self, _name: str, described: Mapping[str, Any]) -> Callable[[], None]:
        kind, custom_type = str(described.get("kind", "message")), str(described["type"])
        renderer = self._member.drawing.renderings.of_custom(kind, custom_type)
        return self._member.pi.register_message_renderer(custom_type, renderer)

    def _add_tool_renderer(self, name: str, described: Mapping[str, Any]) -> Callable[[], None]:
        renders, is_framed = described.get("renders") or [], described.get("framed") is not False
        renderer = self._member.drawing.renderings.of_tool(name, renders, framed=is_framed)
        return self._member.pi.register_message_renderer(name, renderer)

    def _add_virtual_model(self, _name: str, described: Mapping[str, Any]) -> Callable[[], None]:
        from pi_isolated.routes import virtual_model  # few programs choose models

        model = virtual_model(self._member, described)
        return self._member.pi.register_provider(model.provider, model)

    def _add_provider(self, name: str, described: Mapping[str, Any]) -> Callable[[], None]:
        from pi_isolated.streaming import ProgramLogin, ProgramStream  # few programs are asked for a model

        stream = ProgramStream(self._member, name) if described.get("streams") else None
        login = ProgramLogin(self._member, name) if described.get("login") else None
        return self._member.pi.register_provider(name, described.get("config", {}), stream=stream, login=login)

    def _add_channel(self, name: str, _described: Mapping[str, Any]) -> Callable[[], None]:
        member = self._member
        return member.pi.events.on(name, lambda data: member.process_of_session().forward(member, name, data))


def completion_of(found: Any) -> Completion:
    """Return a completion: a text, or an object with ``value``, perhaps ``label``, ``description`` and ``replaces``.

    Raises:
        PiError: It is neither.
    """
    if isinstance(found, str):
        return Completion(found)
    if not isinstance(found, dict) or not isinstance(found.get("value"), str):
        raise PiError(f"a completion must be a string or have a 'value', not {found!r:.80}")
    label = found.get("label")
    try:
        return Completion(
            found["value"],
            description=str(found.get("description") or ""),
            label=label if isinstance(label, str) else None,
            replaces=found.get("replaces"),
        )
    except (TypeError, ValueError) as error:
        raise PiError(str(error)) from error
