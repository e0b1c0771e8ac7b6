"""Characters of the input that a terminal would not show: a pasted text must not look like another one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prompt_toolkit.formatted_text.utils import fragment_list_to_text
from prompt_toolkit.layout.processors import Processor, Transformation
from prompt_toolkit.layout.screen import Char
from prompt_toolkit.layout.utils import explode_text_fragments

from pi_core.base.terminal_text import hidden_characters

if TYPE_CHECKING:
    from prompt_toolkit.layout.processors import TransformationInput

__all__ = ["ShowHidden"]

_MARK = "\N{REPLACEMENT CHARACTER}"


class ShowHidden(Processor):
    """Draws a mark for direction marks and other invisible characters; prompt_toolkit draws control characters."""

    def apply_transformation(self, transformation_input: TransformationInput) -> Transformation:
        """Return the fragments of a row, in which every character keeps its place."""
        fragments = transformation_input.fragments
        hidden = [
            index
            for index, character in hidden_characters(fragment_list_to_text(fragments))
            if len(character) == 1 and character not in Char.display_mappings
        ]
        if not hidden:
            return Transformation(fragments)
        single = explode_text_fragments(fragments)
        for index in hidden:
            single[index] = (single[index][0], _MARK)
        return Transformation(single)
