"""``/qna``: extracts the questions from the last answer and puts them into the editor, ready to be answered."""

from pi_hookspecs import AssistantMessage, Command, Context, MessageEntry, PiContext, SideRequest, UserMessage, hookimpl

EXTRACT = "Copy every question to the user out of this text. One line each, beginning with 'Q: '. Nothing else."


@hookimpl
def register_commands() -> list[Command]:
    return [Command(name="qna", handler=qna, description="Answer the questions of the last answer one by one")]


async def qna(args: str, ctx: PiContext) -> None:
    answer_text = last_answer(ctx)
    if not answer_text:
        ctx.ui.notify("Nothing was answered yet.", "warning")
        return
    ctx.ui.set_status("qna", "Looking for questions ...")
    try:
        request = Context(system_prompt=EXTRACT, messages=(UserMessage(content=answer_text),))
        answer = await ctx.complete(request, SideRequest(purpose="qna", reasoning="off"))
    finally:
        ctx.ui.set_status("qna")
    questions = [line for line in answer.text.splitlines() if line.startswith("Q:")]
    if answer.error_message:
        ctx.ui.notify(f"The questions could not be looked for: {answer.error_message}", "error")
    elif not questions:
        ctx.ui.notify("It asked nothing.")
    else:
        ctx.ui.set_editor_text("\n\n".join(f"{question}\nA: " for question in questions))


def last_answer(ctx: PiContext) -> str:
    """Return the text of the last answer on the branch; empty without one."""
    for entry in reversed(ctx.session.branch()):
        if isinstance(entry, MessageEntry) and isinstance(entry.message, AssistantMessage) and entry.message.text:
            return entry.message.text
    return ""
