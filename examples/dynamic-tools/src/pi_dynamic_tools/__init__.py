"""Registers tools while the session runs: `echo` when it starts, and others with `/add-echo-tool NAME`."""

from pi_hookspecs import PiAPI, PiContext, hookimpl


@hookimpl
def activate(pi: PiAPI) -> None:
    def add(name: str, before: str) -> None:
        @pi.register_tool(name=name, label=f"Echo ({name})", prompt_snippet="Say a text again")
        def echo(text: str) -> str:
            """Say a text again.

            Args:
                text: The text to repeat.
            """
            return f"{before}{text}"

    @pi.on("session_start")
    def begin() -> None:
        add("echo", "")

    @pi.register_command("add-echo-tool", description="Add a tool: /add-echo-tool NAME [PREFIX]")
    def add_echo_tool(args: str, ctx: PiContext) -> None:
        name, _, before = args.partition(" ")
        if not name.isidentifier():
            ctx.ui.notify(f"{name!r} is not a name for a tool; use letters, digits and _.", "warning")
        elif name in [tool.name for tool in pi.get_all_tools()]:
            ctx.ui.notify(f"There is a tool {name!r} already.", "warning")
        else:
            add(name, before)
            ctx.ui.notify(f"The model can call {name!r} from its next request on.")
