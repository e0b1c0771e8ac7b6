"""Gives the model a tool that delegates tasks to helpers: separate sessions, which see only the task.

A helper is defined in a file: ``agents/NAME.md`` of this plugin, of ``~/.pi/agent`` or of a trusted ``.pi``.
Its first line says what the helper is for; the whole text is appended to the helper's system prompt.
"""

from pathlib import Path

from pi_hookspecs import (
    PiContext,
    ResourceContent,
    ResourceFile,
    ResourceKind,
    ResourcesDiscoverResult,
    Tool,
    ToolContext,
    ToolResult,
    hookimpl,
    tool,
)

HERE = Path(__file__).parent


@tool(label="Ask a helper", prompt_guidelines=["Give searches through many files to the tool subagent."])
async def subagent(task: str, ctx: ToolContext, agent: str = "scout") -> ToolResult:
    """Give a task to a fresh helper with read-only tools and return its answer. Several may work at once.

    Args:
        task: Everything that the helper needs to know: it does not see this conversation.
        agent: Which helper.
    """
    helpers = await ctx.resources.load("agent")
    helper = helpers.get(agent)
    if helper is None:
        known = "; ".join(f"{each.name}: {each.description}" for each in helpers.resources)
        raise LookupError(f"There is no helper {agent!r}. Known are {known}")
    async with ctx.create_session(read_only_tools=True, append_system_prompt=[helper.path]) as session:
        session.subscribe(ctx.relay)  # what it does shows under this call
        answer = await session.prompt(task)
        if answer is None or answer.stop_reason in ("error", "aborted"):
            raise RuntimeError(f"The helper failed: {answer.error_message if answer else 'no answer'}")
        return ToolResult.text(answer.text, details={"agent": agent}, usage=session.usage)


@hookimpl
def register_tools() -> list[Tool]:
    return [subagent]


def read_agent(file: ResourceFile, text: str) -> ResourceContent:
    """Say what a file is: it is called as the file is."""
    return ResourceContent(name=Path(file.path).stem, description=text.strip().partition("\n")[0])


@hookimpl
def register_resource_kinds() -> list[ResourceKind]:
    return [ResourceKind("agent", read=read_agent, folder="agents", overrides=True)]


@hookimpl
def session_start(ctx: PiContext) -> None:
    ctx.resources.extend("agent", [str(HERE / "agents")], "subagent")


@hookimpl
def resources_discover() -> ResourcesDiscoverResult:
    return ResourcesDiscoverResult(prompt_paths=[str(HERE / "prompts")])
