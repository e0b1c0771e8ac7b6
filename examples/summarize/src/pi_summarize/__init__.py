"""``/summarize``: lets a model summarize the conversation for the user; the conversation itself is unchanged."""

from pi_hookspecs import AssistantMessage, Command, Context, PiContext, SideRequest, UserMessage, hookimpl

INSTRUCTIONS = "Sum up this conversation for a reader who did not take part: goal, decisions, state, open questions."


@hookimpl
def register_commands() -> list[Command]:
    return [Command(name="summarize", handler=summarize, description="Sum the conversation up")]


async def summarize(args: str, ctx: PiContext) -> None:
    transcript = conversation(ctx)
    if not transcript:
        ctx.ui.notify("There is nothing to sum up.", "warning")
        return
    ctx.ui.set_status("summarize", "Summing up ...")
    try:
        request = Context(system_prompt=f"{INSTRUCTIONS} {args}".strip(), messages=(UserMessage(content=transcript),))
        answer = await ctx.complete(request, SideRequest(purpose="summarize"))
    finally:
        ctx.ui.set_status("summarize")
    if answer.error_message:
        ctx.ui.notify(f"Not summed up: {answer.error_message}", "error")
    else:
        ctx.ui.set_widget("summarize", answer.text.splitlines())


def conversation(ctx: PiContext) -> str:
    """Return the messages of this branch without tool results."""
    spoken = (each for each in ctx.session.context().messages if isinstance(each, UserMessage | AssistantMessage))
    return "\n\n".join(f"{each.role}: {each.text}" for each in spoken if each.text)
