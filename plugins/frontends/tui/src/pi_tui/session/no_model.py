"""What the user can do while no model is selected: sign in, use a server on this machine, or try pi offline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import NoModel

if TYPE_CHECKING:
    from pi_core import ModelRegistry

__all__ = ["why_no_model"]

_OFFLINE = "offline/rules"


def why_no_model(models: ModelRegistry) -> str:
    """Return three lines: why there is no model and how to sign in, the server on this machine, the offline model.

    Args:
        models: The models and keys. Servers have been asked already, when the session was made.
    """
    try:
        models.choose()
    except NoModel as error:
        reason = f"{str(error).partition('. ')[0].rstrip('.')}."
    else:
        reason = "No model is selected."
    served = next((each for each in models.available() if models.provider(each.provider).keyless), None)
    server = (
        f"A server on this machine has models: /model {served.reference}"
        if served is not None
        else "A model server on this machine, such as Ollama, needs no key: start it, then pi again."
    )
    return "\n".join(
        [
            f"{reason} /login signs in to a provider, or stores its API key.",
            server,
            f"To look around without a key: /model {_OFFLINE} (a rule-based stand-in, not a language model)",
        ]
    )
