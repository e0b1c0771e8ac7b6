"""Adds `/handoff GOAL`: starts a new session with the context of this one that matters for the goal."""

from typing import Any

from pi_hookspecs import Context, PiAPI, PiContext, SideRequest, UserMessage, hookimpl, text_of

INSTRUCTIONS = """Write the first message of a new conversation that works towards a goal. Its reader knows
nothing about this conversation: say what was decided and why, which files matter, what is done, and then the task.
Answer with the message alone."""


@hookimpl
def activate(pi: PiAPI) -> None:
    @pi.register_command("handoff", description="Go on towards a goal in a new session")
    async def handoff(args: str, ctx: PiContext) -> None:
        messages = [(each.role, text_of(getattr(each, "content", ""))) for each in ctx.session.context().messages]
        if not args or not messages:
            ctx.ui.notify("Name the goal, in a session that has messages: /handoff GOAL", "warning")
            return
        conversation = "\n\n".join(f"[{role}] {text}" for role, text in messages if text)
        answer = await ctx.complete(
            Context(
                system_prompt=INSTRUCTIONS,
                messages=(UserMessage(content=f"The conversation:\n\n{conversation}\n\nThe goal: {args}"),),
            ),
            SideRequest(purpose="handoff"),
        )
        if answer.stop_reason == "error":
            ctx.ui.notify(f"No handoff: {answer.error_message}", "error")
            return
        prompt = await ctx.ui.editor("First message of the new session", answer.text)
        if not prompt:
            return

        def setup(session: Any) -> None:
            session.append_session_info(args)

        before = str(ctx.session.file) if ctx.session.file is not None else None
        change = await ctx.new_session(parent_session=before, setup=setup)
        if not change.cancelled:
            await pi.send_user_message(prompt)
