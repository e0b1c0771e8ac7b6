"""Downloads model files from the Hugging Face Hub, and deletes downloaded ones."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from pi_hookspecs.errors import UserError
from pi_provider_llamacpp.finding import parts_of
from pi_provider_llamacpp.names import INSTALL

if TYPE_CHECKING:
    from pi_provider_llamacpp.finding import Found

__all__ = ["pull", "remove"]


def pull(source: str, *, quiet: bool = False) -> list[Path]:
    """Download ``REPO:FILE`` into Hugging Face's cache, where pi finds it; return the files, of several all.

    Args:
        source: What to download.
        quiet: Whether the library must not write its progress to the terminal, which a front end has.

    Raises:
        UserError: It cannot be downloaded; the message says why.
    """
    repository, colon, name = source.partition(":")
    if not colon or repository.count("/") != 1 or not name.lower().endswith(".gguf"):
        raise UserError(
            f"{source!r} does not name a model file. Write REPO:FILE, as in Qwen/Qwen3-8B-GGUF:Qwen3-8B-Q4_K_M.gguf."
        )
    try:
        hub, errors = import_module("huggingface_hub"), import_module("huggingface_hub.errors")
    except ModuleNotFoundError as error:
        raise UserError(f"Models cannot be downloaded, because {error.name!r} is not installed: {INSTALL}") from error
    if quiet:
        hub.utils.disable_progress_bars()
        hub.utils.logging.set_verbosity_error()
    names = [str(each) for each in parts_of(Path(name))]
    try:
        return [Path(hub.hf_hub_download(repository, each)) for each in names]
    except (errors.HfHubHTTPError, OSError, ValueError) as error:
        first = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
        raise UserError(
            f"{source!r} cannot be downloaded: {first.rstrip('.')}. Check the name and the network."
        ) from error


def remove(found: Found) -> None:
    """Delete the files of a model, and where they are links into Hugging Face's cache, what they lead to.

    Raises:
        UserError: They belong to another program, or cannot be deleted.
    """
    if found.place not in ("paths", "Hugging Face"):
        advice = f"ollama rm {found.id}" if found.place == "Ollama" else "its own window"
        raise UserError(f"{found.id!r} belongs to {found.place}, not to pi. Delete it with {advice}.")
    try:
        for part in parts_of(found.path):
            target = part.resolve()
            part.unlink()
            if found.place == "Hugging Face" and target != part:
                target.unlink(missing_ok=True)
    except OSError as error:
        raise UserError(f"The model file {error.filename!r} cannot be deleted: {error.strerror}.") from error
