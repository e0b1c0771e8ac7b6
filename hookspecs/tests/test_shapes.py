"""Types as JSON schema, and their values, for what is not a parameter of a tool."""

from __future__ import annotations

import attrs
import pytest

from pi_hookspecs import UnsupportedAnnotation, shape_of


@attrs.frozen
class Book:
    """A book.

    Attributes:
        title: As on its cover.
    """

    title: str
    year: int | None = None


def test_a_class_is_an_object_with_the_descriptions_of_its_docstring():
    assert shape_of(Book).schema == {
        "type": "object",
        "properties": {
            "title": {"type": "string", "description": "As on its cover."},
            "year": {"type": "integer"},
        },
        "required": ["title"],
        "additionalProperties": False,
    }


def test_json_that_fits_becomes_values_of_the_type():
    assert shape_of(list[Book]).load([{"title": "Odes", "year": 1819}]) == [Book("Odes", 1819)]


def test_a_type_without_json_is_refused_by_name():
    with pytest.raises(UnsupportedAnnotation, match="is annotated complex"):
        shape_of(complex)
