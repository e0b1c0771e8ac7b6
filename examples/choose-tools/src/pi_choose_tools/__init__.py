"""``/tools``: the user chooses which tools to offer to the model; the choice is stored per session and branch."""

from pi_hookspecs import CustomEntry, PiAPI, PiContext, hookimpl

ENTRY = "tools"


@hookimpl
def activate(pi: PiAPI) -> None:
    @pi.register_command("tools", description="Choose which tools the model is offered")
    async def choose(args: str, ctx: PiContext) -> None:
        while True:
            rows = {f"[{'x' if tool.active else ' '}] {tool.name}": tool for tool in pi.get_all_tools()}
            chosen = await ctx.ui.select("Tools; dismiss when done", list(rows))
            if chosen is None:
                break
            tool = rows[chosen]
            others = [name for name in pi.get_active_tools() if name != tool.name]
            pi.set_active_tools(others if tool.active else [*others, tool.name])
        pi.append_entry(ENTRY, pi.get_active_tools())

    @pi.on("session_start")
    @pi.on("session_tree")  # another branch may have another choice
    def restore(ctx: PiContext) -> None:
        kept = (each for each in reversed(ctx.session.branch()) if isinstance(each, CustomEntry))
        names = next((each.data for each in kept if each.custom_type == ENTRY), None)
        if names is not None:
            pi.set_active_tools(names)
