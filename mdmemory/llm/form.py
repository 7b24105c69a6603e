"""One example of the form of answer that a model is asked for, and the question that shows it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

Schema = Mapping[str, Any]


def example(schema: Schema) -> Any:
    """A value that fits a schema, with one item in each list of objects. Its texts are the names of
    their fields in `<...>`, which `json_answer` reads as nothing: small models copy examples."""
    return _value(schema, "")


def _value(schema: Schema, name: str) -> Any:
    if "anyOf" in schema:
        return _value(schema["anyOf"][-1], name)
    if schema["type"] == "object":
        return {key: _value(each, key) for key, each in schema["properties"].items()}
    if schema["type"] == "array":
        if schema["items"].get("type") == "string":
            return ["<file>", "<other file>"] if name in ("sources", "files") else []
        return [_value(schema["items"], name)]
    words = schema.get("enum")
    return next(filter(None, words)) if words and words[0] else "" if words else f"<{name}>"


def once_more(question: str, schema: Schema) -> str:
    """The same question after an answer that could not be read: with one example of the form."""
    text = json.dumps(example(schema), ensure_ascii=False)
    return (
        f"{question}\n\nYour answer to this could not be read. Answer with one JSON object and "
        f"nothing around it, in this form:\n{text}"
    )
