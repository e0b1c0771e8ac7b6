"""``/search``: lets the user choose a result, and switches to its session."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pi_core import one_line
from pi_session_sqlite.places import index_of
from pi_session_sqlite.query import parse_query

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pi_hookspecs import PiContext
    from pi_session_sqlite.index import Hit, SearchIndex
    from pi_session_sqlite.query import Query

__all__ = ["search"]

_MOST = 20
_WIDTH = 160


async def search(args: str, ctx: PiContext) -> None:
    """Search the stored sessions, and open the session of the result that the user chooses.

    Raises:
        UserError: The query has no word, or the index cannot be used.
    """
    query = parse_query(args)
    present = ctx.session.file
    also = [present.parent] if present is not None else []
    store = ctx.settings.get_str("sessionStore", None) or "jsonl"
    open_index = partial(index_of, store, ctx.sessions.place, also)
    hits, notices = await asyncio.to_thread(_found, query, open_index)
    for notice in notices:
        ctx.ui.notify(notice, "warning")
    if not hits:
        ctx.ui.notify(f"Nothing was found for {one_line(args)!r}.")
        return
    rows = {f"{number}. {_row(hit)}": hit for number, hit in enumerate(hits, 1)}
    chosen = await ctx.ui.select("Open which session?", [*rows])
    if chosen is None:
        return
    path = rows[chosen].session
    if rows[chosen].id == ctx.session.id:
        ctx.ui.notify("The result is in this session.")
        return
    await ctx.switch_session(path)
    ctx.ui.notify(f"This is now the session {rows[chosen].id}.")


def _found(query: Query, open_index: Callable[[], SearchIndex]) -> tuple[list[Hit], Sequence[str]]:
    index = open_index()
    try:
        index.update()
        return index.search(query, limit=_MOST), index.notices
    finally:
        index.close()


def _row(hit: Hit) -> str:
    tool = f" {hit.tool}" if hit.tool else ""
    return one_line(f"{hit.when}  {Path(hit.cwd).name}  {hit.role}{tool}: {hit.snippet}")[:_WIDTH]
