"""Adds `/commands [SOURCE]`: lists slash commands and displays the origin of the selected one."""

from collections.abc import Sequence

from pi_hookspecs import CommandInfo, PiAPI, PiContext, hookimpl

SOURCES = ("extension", "prompt", "skill")


def complete(prefix: str) -> Sequence[str]:
    return [source for source in SOURCES if source.startswith(prefix)]


@hookimpl
def activate(pi: PiAPI) -> None:
    @pi.register_command("commands", description="List commands, templates and skills", complete=complete)
    async def commands(args: str, ctx: PiContext) -> None:
        found = {f"/{each.name}": each for each in await pi.get_commands() if args in ("", each.source)}
        if not found:
            ctx.ui.notify(f"There are no commands from {args!r}; sources are {', '.join(SOURCES)}.", "warning")
            return
        chosen = await ctx.ui.select("Commands", list(found))
        if chosen is not None:
            ctx.ui.notify(_described(found[chosen]))


def _described(command: CommandInfo) -> str:
    origin = command.source_info.path if command.source_info is not None else "unknown"
    return f"/{command.name} ({command.source}, {origin}): {command.description or 'no description'}"
