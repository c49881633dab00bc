# SPDX-License-Identifier: BSD-3-Clause
"""Whether a value fits a JSON Schema (draft 2020-12): the keywords that the program's schema of decks uses, no others."""

import re


def is_of_type(value, name):
    if name == "integer":
        return isinstance(value, (int, float)) and not isinstance(value, bool) and float(value).is_integer()
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, {"boolean": bool, "string": str, "array": list, "object": dict}[name])


def same(one, other):
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def fits(schema, value):
    return evaluated(schema, value) is not None


def evaluated(schema, value):
    """The names of the properties that the schema has evaluated; None if the value does not fit."""
    if isinstance(schema, bool):
        return set() if schema else None
    unknown = schema.keys() - KEYWORDS.keys() - {"$schema", "title", "description", "default", "then", "unevaluatedProperties"}
    assert not unknown, unknown
    seen = set()
    for keyword, check in KEYWORDS.items():
        if keyword in schema:
            found = check(schema, schema[keyword], value)
            if found is None:
                return None
            seen |= found
    if schema.get("unevaluatedProperties") is False and isinstance(value, dict) and value.keys() - seen:
        return None
    return seen


def holds(condition):
    return set() if condition else None


def when(kind, condition):
    """A keyword that concerns values of one kind."""
    return lambda schema, of, value: holds(not isinstance(value, kind) or condition(of, value))


def number(condition):
    return lambda schema, of, value: holds(not is_of_type(value, "number") or condition(of, value))


def properties(schema, of, value):
    mine = value.keys() & of.keys() if isinstance(value, dict) else set()
    return mine if all(fits(of[name], value[name]) for name in mine) else None


def additional(schema, of, value):
    rest = value.keys() - schema.get("properties", {}).keys() if isinstance(value, dict) else set()
    return rest if all(fits(of, value[name]) for name in rest) else None


def all_of(schema, of, value):
    found = [evaluated(one, value) for one in of]
    return None if None in found else set().union(*found)


def any_of(schema, of, value):
    found = [one for one in (evaluated(one, value) for one in of) if one is not None]
    return set().union(*found) if found else None


def if_then(schema, of, value):
    found = evaluated(of, value)
    if found is None:
        return set()
    then = evaluated(schema["then"], value)
    return None if then is None else found | then


def dependent(schema, of, value):
    return all_of(schema, [one for name, one in of.items() if isinstance(value, dict) and name in value], value)


KEYWORDS = {
    "type": lambda schema, of, value: holds(any(is_of_type(value, name) for name in ([of] if isinstance(of, str) else of))),
    "enum": lambda schema, of, value: holds(any(same(one, value) for one in of)),
    "const": lambda schema, of, value: holds(same(of, value)),
    "pattern": when(str, lambda of, value: re.search(of, value)),
    "minimum": number(lambda of, value: value >= of),
    "maximum": number(lambda of, value: value <= of),
    "exclusiveMinimum": number(lambda of, value: value > of),
    "exclusiveMaximum": number(lambda of, value: value < of),
    "items": when(list, lambda of, value: all(fits(of, one) for one in value)),
    "minItems": when(list, lambda of, value: len(value) >= of),
    "maxItems": when(list, lambda of, value: len(value) <= of),
    "uniqueItems": when(list, lambda of, value: len(set(map(str, value))) == len(value)),
    "required": when(dict, lambda of, value: set(of) <= value.keys()),
    "properties": properties,
    "additionalProperties": additional,
    "allOf": all_of,
    "anyOf": any_of,
    "not": lambda schema, of, value: holds(not fits(of, value)),
    "if": if_then,
    "dependentSchemas": dependent,
}
