"""``/llama``: the local models of a session, listed, loaded, unloaded, downloaded and deleted."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from pi_hookspecs import UserError

if TYPE_CHECKING:
    from pi_hookspecs import PiContext
    from pi_provider_llamacpp.catalog import Listed
    from pi_provider_llamacpp.options import Options

__all__ = ["complete", "run_command"]

_WORDS = ("list", "load", "unload", "pull", "rm")
_USAGE = "Write /llama list, /llama load MODEL, /llama unload [MODEL], /llama pull REPO:FILE or /llama rm MODEL."


def complete(text: str) -> list[str]:
    """Return the first words that begin like this."""
    return [word for word in _WORDS if word.startswith(text)]


async def run_command(args: str, ctx: PiContext) -> None:
    """Run ``/llama ...``; without a word it lists.

    Raises:
        UserError: It cannot be done; the message says why.
    """
    words = args.split()
    match words:
        case [] | ["list"]:
            await _list(ctx)
        case ["load", name]:
            await _load(name, ctx)
        case ["unload", *names] if len(names) <= 1:
            await _unload(names[0] if names else None, ctx)
        case ["pull", source]:
            await _pull(source, ctx)
        case ["rm", name]:
            await _remove(name, ctx)
        case _:
            raise UserError(f"Unknown arguments of /llama: {args.strip()!r}. {_USAGE}")


async def _models(ctx: PiContext) -> tuple[list[Listed], Options]:
    from pi_provider_llamacpp.catalog import list_models
    from pi_provider_llamacpp.options import read_options

    options = read_options(ctx.settings)
    for problem in options.problems:
        ctx.ui.notify(problem, "warning")
    return await asyncio.to_thread(list_models, options, ctx.settings.agent_dir), options


async def _list(ctx: PiContext) -> None:
    from pi_provider_llamacpp.catalog import NOTHING, as_lines
    from pi_provider_llamacpp.loaded import loaded_models

    models, options = await _models(ctx)
    loaded = [each.found.path for each in loaded_models().running()]
    ctx.ui.notify("\n".join(as_lines(models, options, loaded)) if models else NOTHING)


async def _load(name: str, ctx: PiContext) -> None:
    from pi_provider_llamacpp.catalog import named, to_model
    from pi_provider_llamacpp.loaded import loaded_models

    models, options = await _models(ctx)
    listed = named(name, models)
    if listed.problem:
        raise UserError(listed.problem)
    model = to_model(listed, options)
    known: Any = ctx.model
    window = known.context_window if known is not None and known.reference == model.reference else model.context_window
    loaded = loaded_models()
    loaded.idle_seconds = options.idle_seconds
    process = await loaded.process(listed.found, window)
    loaded.rest(process)
    ctx.ui.notify(f"{listed.found.id} is loaded, with a window of {window:,} tokens.")


async def _unload(name: str | None, ctx: PiContext) -> None:
    from pi_provider_llamacpp.loaded import loaded_models

    loaded = loaded_models()
    running = [each.found for each in loaded.running()]
    wanted = [each for each in running if name is None or name.lower() in each.id.lower()]
    for found in wanted:
        await loaded.unload(found.path)
    what = "No model is loaded." if not running else f"No loaded model has {name!r} in its name."
    ctx.ui.notify(f"Unloaded {', '.join(each.id for each in wanted)}." if wanted else what)


async def _pull(source: str, ctx: PiContext) -> None:
    from pi_provider_llamacpp.hub import pull

    ctx.ui.notify(f"Downloading {source} ...")
    files = await asyncio.to_thread(pull, source, quiet=True)
    ctx.ui.notify(f"Downloaded {files[0].stem}; /model finds it, and so does pi --model llamacpp/{files[0].stem}.")


async def _remove(name: str, ctx: PiContext) -> None:
    from pi_provider_llamacpp.catalog import named, shown_size
    from pi_provider_llamacpp.hub import remove
    from pi_provider_llamacpp.loaded import loaded_models

    models, _ = await _models(ctx)
    found = named(name, models).found
    if not await ctx.ui.confirm("Delete a model", f"Delete {found.path} ({shown_size(found.size)})?"):
        ctx.ui.notify("Nothing was deleted.")
        return
    await loaded_models().unload(found.path)
    await asyncio.to_thread(remove, found)
    ctx.ui.notify(f"Deleted {found.id}.")
