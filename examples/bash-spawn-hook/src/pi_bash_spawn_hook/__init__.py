"""Replaces the `bash` tool by one that changes how each command is started."""

from pi_hookspecs import PiAPI, PiContext, SessionStartEvent, hookimpl
from pi_tools import BashOptions, SpawnContext, create_bash_tool


def spawn_hook(spawn: SpawnContext) -> SpawnContext:
    """Let every command see where it comes from, and read what the user keeps for the shell in `.pi/env`."""
    return SpawnContext(
        command=f"if [ -f .pi/env ]; then . .pi/env; fi\n{spawn.command}",
        cwd=spawn.cwd,
        env={**spawn.env, "PI_SPAWN_HOOK": "1"},
    )


@hookimpl
def activate(pi: PiAPI) -> None:
    @pi.on("session_start")
    def replace(event: SessionStartEvent, ctx: PiContext) -> None:
        pi.register_tool(create_bash_tool(ctx.cwd, BashOptions(spawn_hook=spawn_hook)))
