"""Changes the indicator that pi shows while working, and its text: `/indicator pulse`."""

from pi_hookspecs import PiAPI, PiContext, UserError, hookimpl

INDICATORS = {
    "pulse": (("·", "•", "●", "•"), 0.12, "Pondering"),
    "dot": (("●",), 1.0, "Busy"),
    "none": ((), 1.0, None),
    "default": (None, 0.1, None),
}
"""Frames, seconds of each, and the text."""


@hookimpl
def activate(pi: PiAPI) -> None:
    def complete(typed: str) -> list[str]:
        return [name for name in INDICATORS if name.startswith(typed)]

    @pi.register_command("indicator", description="Choose what turns while pi works", complete=complete)
    async def choose(args: str, ctx: PiContext) -> None:
        name = args.strip() or await ctx.ui.select("Which one?", list(INDICATORS))
        if name is None:
            return
        if name not in INDICATORS:
            raise UserError(f"There is no indicator {name!r}: there are {', '.join(INDICATORS)}")
        frames, seconds, message = INDICATORS[name]
        ctx.ui.set_working_indicator(frames, seconds)
        ctx.ui.set_working_message(message)
        ctx.ui.notify(f"Indicator: {name}")
