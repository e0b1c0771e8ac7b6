"""Changes model, thinking level and tools under one name: ``/preset NAME``, or ``--preset NAME`` at the start.

The user defines the presets in settings.json:
``"presets": {"review": {"model": "anthropic/claude-opus-4-5", "thinking": "high", "tools": ["read", "grep"]}}``.
"""

from typing import Any

from pi_hookspecs import PiAPI, PiContext, SessionStartEvent, hookimpl


@hookimpl
def activate(pi: PiAPI) -> None:
    pi.register_flag("preset", type=str, description="Begin with a preset of the settings")

    @pi.on("session_start")
    async def begin(event: SessionStartEvent, ctx: PiContext) -> None:
        name = pi.get_flag("preset")
        if isinstance(name, str) and event.reason == "startup":
            await use(name, ctx)

    @pi.register_command("preset", description="Change model, thinking level and tools at once")
    async def choose(args: str, ctx: PiContext) -> None:
        name = args or await ctx.ui.select("Preset", sorted(presets(ctx)))
        if name:
            await use(name, ctx)

    async def use(name: str, ctx: PiContext) -> None:
        preset = presets(ctx).get(name)
        if preset is None:
            ctx.ui.notify(f"There is no preset {name!r}. Known: {', '.join(sorted(presets(ctx))) or 'none'}", "error")
            return
        if "model" in preset and not await pi.set_model(preset["model"]):
            ctx.ui.notify(f"No key for {preset['model']}: the model is unchanged.", "warning")
        if "thinking" in preset:
            await pi.set_thinking_level(preset["thinking"])
        if "tools" in preset:
            pi.set_active_tools(preset["tools"])
        ctx.ui.set_status("preset", name)


def presets(ctx: PiContext) -> dict[str, dict[str, Any]]:
    """Return the presets by name."""
    found: dict[str, dict[str, Any]] = ctx.settings.get("presets", {})
    return found
