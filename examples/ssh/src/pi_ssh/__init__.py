"""``--ssh user@host:/folder``: the tools, and the user's ``!`` commands, work on another computer."""

from pi_hookspecs import (
    PiAPI,
    PiContext,
    PromptSection,
    SystemPromptResult,
    Tool,
    UserBashResult,
    hookimpl,
)
from pi_ssh._remote import Remote


@hookimpl
def activate(pi: PiAPI) -> None:
    pi.register_flag("ssh", type=str, description="Work on another computer: [USER@]HOST[:FOLDER]")
    remote: Remote | None = None

    @pi.on("session_start")
    async def connect(ctx: PiContext) -> None:
        nonlocal remote
        target = pi.get_flag("ssh")
        if not isinstance(target, str) or remote is not None:
            return
        host, _, folder = target.partition(":")
        remote = Remote(host, folder or ".")
        try:
            remote = Remote(host, (await remote.run("pwd")).decode().strip())
        except (OSError, RuntimeError) as error:
            pi.set_active_tools([])  # what was meant for there must not happen here
            ctx.ui.notify(f"{error}. The model has no tools now.", "error")
            return
        for tool in tools_of(remote):
            pi.register_tool(tool)
        ctx.ui.set_status("ssh", f"{host}:{remote.cwd}")

    @pi.on("user_bash")
    def run_there() -> UserBashResult | None:
        return UserBashResult(operations=remote) if remote is not None else None

    @pi.on("system_prompt")
    def say_where() -> SystemPromptResult | None:
        if remote is None:
            return None
        text = f"All tools work on {remote.host}. Their working directory is {remote.cwd}."
        return SystemPromptResult(sections=[PromptSection(name="ssh", text=text)])


def tools_of(remote: Remote) -> list[Tool]:
    """Return pi's seven tools, working there."""
    import pi_tools  # when there is something to connect to, not with every start

    options = pi_tools.ToolsOptions(
        read=pi_tools.ReadOptions(operations=remote),
        write=pi_tools.WriteOptions(operations=remote),
        edit=pi_tools.EditOptions(operations=remote),
        bash=pi_tools.BashOptions(operations=remote),
        grep=pi_tools.GrepOptions(operations=remote),
        find=pi_tools.FindOptions(operations=remote),
        ls=pi_tools.LsOptions(operations=remote),
    )
    return [*pi_tools.create_all_tools(remote.cwd, options).values()]
