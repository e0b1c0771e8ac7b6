"""`/snake` starts a game in place of the editor; the best score is stored in the session."""

from pi_hookspecs import CustomEntry, PiAPI, PiContext, hookimpl
from pi_snake._game import SnakeGame

ENTRY = "snake"


@hookimpl
def activate(pi: PiAPI) -> None:
    best = 0

    @pi.on("session_start")
    @pi.on("session_tree")
    def read(ctx: PiContext) -> None:
        nonlocal best
        scores = (
            each.data for each in ctx.session.branch() if isinstance(each, CustomEntry) and each.custom_type == ENTRY
        )
        best = max(scores, default=0)

    @pi.register_command("snake", description="Play")
    async def play(args: str, ctx: PiContext) -> None:
        nonlocal best
        score = await ctx.ui.custom(lambda screen: SnakeGame(screen, best))
        if score is not None and score > best:
            best = score
            pi.append_entry(ENTRY, best)
            ctx.ui.notify(f"New best score: {best}")
