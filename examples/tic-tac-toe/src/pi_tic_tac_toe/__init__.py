"""Play against the model: a board that handles keys, and a tool for the model; the game is stored in the session."""

from pi_hookspecs import CustomEntry, PiAPI, PiContext, ToolContext, hookimpl
from pi_tic_tac_toe._board import EMPTY, Board, drawn, winner

ENTRY = "tic-tac-toe"


@hookimpl
def activate(pi: PiAPI) -> None:
    cells = EMPTY

    def keep(new: str) -> None:
        nonlocal cells
        cells = new
        pi.append_entry(ENTRY, new)

    @pi.on("session_start")
    @pi.on("session_tree")
    def rebuild(ctx: PiContext) -> None:
        nonlocal cells
        kept = (each for each in reversed(ctx.session.branch()) if isinstance(each, CustomEntry))
        cells = next((each.data for each in kept if each.custom_type == ENTRY), EMPTY)
        ctx.ui.set_widget("tic-tac-toe", None if cells == EMPTY else drawn(cells))

    def put(ctx: PiContext | ToolContext, cell: int, player: str) -> str:
        if not 1 <= cell <= len(cells) or cells[cell - 1] != " ":
            raise ValueError("\n".join([f"Cell {cell} is not free. The board:", *drawn(cells)]))
        keep(cells[: cell - 1] + player + cells[cell:])
        ctx.ui.set_widget("tic-tac-toe", drawn(cells))
        return winner(cells)

    @pi.register_tool(label="Tic-tac-toe", execution_mode="sequential")
    async def tic_tac_toe(cell: int, ctx: ToolContext) -> str:
        """Play O in a game of tic-tac-toe against the user, who plays X.

        Args:
            cell: The cell, 1 to 9, row by row.
        """
        won = put(ctx, cell, "O")
        return "\n".join([*drawn(cells), f"Over: {won}." if won else "It is the user's turn."])

    @pi.register_command("tic-tac-toe", description="Play against the model")
    async def play(args: str, ctx: PiContext) -> None:
        if winner(cells) or args.strip() == "new":
            keep(EMPTY)
        free = [str(number) for number, each in enumerate(cells, 1) if each == " "]
        chosen = await ctx.ui.custom(
            lambda screen: Board(screen, cells),
            fallback=lambda ui: ui.select("Which cell?", free),
        )
        if chosen is None:
            return
        won = put(ctx, int(chosen), "X")
        board = "\n".join(drawn(cells))
        if won:
            ctx.ui.notify(f"Over: {won}.")
        else:
            pi.send_user_message(f"I play X in cell {chosen}:\n\n{board}\n\nYour turn: use the tool tic_tac_toe.")
