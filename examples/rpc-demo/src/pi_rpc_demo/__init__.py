"""``/rpc-demo``: uses every feature of ``ctx.ui`` once, to show how a front end displays it."""

from pi_hookspecs import Command, PiContext, hookimpl


@hookimpl
def register_commands() -> list[Command]:
    return [Command(name="rpc-demo", handler=demo, description="Show every dialog and every notice")]


async def demo(args: str, ctx: PiContext) -> None:
    ui = ctx.ui
    ui.set_title(f"pi in {ctx.cwd.name}")
    ui.set_status("rpc-demo", "1/4 select")
    colour = await ui.select("Which colour?", ["red", "green", "blue"])
    ui.set_status("rpc-demo", "2/4 confirm")
    sure = await ui.confirm("Sure?", f"You chose {colour}.", timeout=60)
    ui.set_status("rpc-demo", "3/4 input")
    name = await ui.input("What shall we call it?", "a name")
    ui.set_status("rpc-demo", "4/4 editor")
    text = await ui.editor("Describe it", prefill=f"{name} is {colour}.")
    ui.set_status("rpc-demo")
    ui.set_widget("rpc-demo", [f"colour: {colour}", f"sure: {sure}", f"name: {name}"], placement="belowEditor")
    ui.set_editor_text(text or "")
    for level in ("info", "warning", "error"):
        ui.notify(f"This is how level {level!r} looks.", level)
