"""Answers as data: what the rules found out, in the types that the request asks for."""

from __future__ import annotations

import json

from pi_provider_offline.conversation import SIGNATURE
from pi_provider_offline.output import as_json
from pi_testing import for_each

COUNTS = f"notes.txt has 2 lines and 4 words.\n\n{SIGNATURE}"
LIST = f"The files here (2 entries):\n```\nodes.txt\nshelf/\n```\n\n{SIGNATURE}"


def an_object(**properties):
    return {"type": "object", "properties": properties, "required": list(properties)}


@for_each(
    ("text", "schema", "value"),
    [
        (COUNTS, {"type": "integer"}, 2),
        (LIST, {"type": "array", "items": {"type": "string"}}, ["odes.txt", "shelf/"]),
        (
            LIST,
            {"type": "array", "items": an_object(name={"type": "string"})},
            [{"name": "odes.txt"}, {"name": "shelf/"}],
        ),
        (COUNTS, {"type": "string"}, "notes.txt has 2 lines and 4 words."),
        (COUNTS, {"anyOf": [{"type": "null"}, {"type": "number"}]}, 2.0),
        (COUNTS, {"enum": ["pages", "Lines"]}, "Lines"),
        (COUNTS, {"enum": ["pages", "leaves"]}, "pages"),
        (COUNTS, {"type": "boolean"}, True),
    ],
)
def test_each_type_gets_what_the_answer_has_of_it(text, schema, value):
    assert json.loads(as_json(text, an_object(result=schema))) == {"result": value}


def test_a_number_is_the_one_before_the_propertys_name():
    schema = an_object(words={"type": "integer"}, lines={"type": "integer"}, pages={"type": "integer"})

    assert json.loads(as_json(COUNTS, schema)) == {"words": 4, "lines": 2, "pages": 2}
