"""What image models and classifiers return: images, and how well labels fit a text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import Factory

from pi_hookspecs.deferred import frozen
from pi_hookspecs.messages import Usage
from pi_hookspecs.values import Value

if TYPE_CHECKING:
    from pi_hookspecs.content import ImageContent
    from pi_hookspecs.models import Model

__all__ = ["Classification", "GeneratedImages"]


@frozen(kw_only=True, eq=False, repr=False)
class GeneratedImages(Value):
    """The answer of an image model.

    Attributes:
        images: The images, at least one.
        model: The model that drew them.
        text: Text that the model returned with the images, such as its revised prompt; may be empty.
        usage: Tokens and dollars of the request.
    """

    images: tuple[ImageContent, ...]
    model: Model
    text: str = ""
    usage: Usage = Factory(Usage)


@frozen(kw_only=True, eq=False, repr=False)
class Classification(Value):
    """How well labels fit a text.

    Attributes:
        label: The label that fits best.
        scores: Each label with its score from 0 to 1. They need not add up to 1: several labels may fit, or none. A
            model for conversations only chooses, so that one label has 1 and the others 0.
        model: The model that decided.
        usage: Tokens and dollars of the request.
    """

    label: str
    scores: dict[str, float]
    model: Model
    usage: Usage = Factory(Usage)

    @property
    def score(self) -> float:
        """The score of ``label``."""
        return self.scores[self.label]
