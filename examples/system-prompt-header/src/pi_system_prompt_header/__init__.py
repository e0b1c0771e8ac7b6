"""Shows the beginning and the length of the system prompt above the editor."""

from pi_hookspecs import PiContext, hookimpl

WIDTH = 72


@hookimpl
def agent_start(ctx: PiContext) -> None:
    prompt = ctx.get_system_prompt()
    first_line = prompt.strip().partition("\n")[0]
    header = first_line if len(first_line) <= WIDTH else f"{first_line[: WIDTH - 3]}..."
    ctx.ui.set_widget("system-prompt", [f"System prompt: {len(prompt)} characters", header])
