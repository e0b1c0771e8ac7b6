"""Commands that send messages for the user: now, before the next request, or when the answer is done."""

from pi_hookspecs import PiAPI, PiContext, hookimpl


@hookimpl
def activate(pi: PiAPI) -> None:
    @pi.register_command("ask", description="Ask something; refused while an answer is being made")
    def ask(args: str, ctx: PiContext) -> None:
        if ctx.is_idle():
            pi.send_user_message(args)  # needs no await: the answer comes as after any prompt
        else:
            ctx.ui.notify("An answer is in progress. Use /nudge or /then.", "warning")

    @pi.register_command("nudge", description="Say something before the next request")
    def nudge(args: str, ctx: PiContext) -> None:
        pi.send_user_message(args, deliver_as="steer")

    @pi.register_command("then", description="Say something when the answer is done")
    def then(args: str, ctx: PiContext) -> None:
        pi.send_user_message(args, deliver_as="followUp")
