"""Schemas, patterns and templates that cost far more than they look, with the value that sets them off.

SCHEMAS["ref allOf doubling"]      ->  (schema, value)
TEMPLATES["x ~ x"]                 ->  (template, values)
"""

from __future__ import annotations

from typing import Any

LONG = "a" * 64 + "!"
"""Each way of cutting it is tried by a pattern that repeats a repetition."""


def doubling(keyword: str, depth: int = 26, *, last: Any = True) -> dict[str, Any]:
    """`$ref`s that each lead to two others."""
    definitions: dict[str, Any] = {"d0": last}
    for number in range(1, depth + 1):
        reference = {"$ref": f"#/$defs/d{number - 1}"}
        both: Any = [reference, reference]
        if keyword == "if":
            definitions[f"d{number}"] = {"if": reference, "then": reference, "else": reference}
        elif keyword == "not":
            definitions[f"d{number}"] = {"not": reference, "allOf": [reference]}
        else:
            definitions[f"d{number}"] = {keyword: both}
    return {"$ref": f"#/$defs/d{depth}", "$defs": definitions}


def in_list(pattern: str, text: str = LONG, times: int = 500) -> tuple[Any, Any]:
    return {"type": "array", "items": {"type": "string", "pattern": pattern}}, [text] * times


def nested(keyword: str, depth: int = 20) -> dict[str, Any]:
    """Two schemas inside each of two schemas …, through anchors."""
    return {
        "$defs": {
            f"d{n}": {"$anchor": f"a{n}", keyword: [{"$ref": f"#a{n - 1}"}] * 2}
            if n
            else {"$anchor": "a0", "type": "integer"}
            for n in range(depth)
        },
        "$ref": f"#a{depth - 1}",
    }


def _text(pattern: str, text: str = LONG) -> tuple[Any, Any]:
    return {"type": "string", "pattern": pattern}, text


SCHEMAS: dict[str, tuple[Any, Any]] = {
    "nested plus": _text("^(a+)+$"),
    "nested star": _text("^(a*)*$"),
    "overlapping choice": _text("^(a|aa)+$"),
    "same choice twice": _text("^(a|a)*$"),
    "three deep": _text("^(((a+)+)+)$"),
    "lazy nested": _text("^(a+?)+?$"),
    "words and spaces": _text(r"^(\w+\s?)*$", "abc " * 64 + "!"),
    "mail address": _text(r"^([a-z0-9])(([\-.]|_+)?([a-z0-9]+))*@([a-z0-9]+[.])+[a-z]$", "a" * 64 + "@"),
    "dot star chain": _text("^" + "(.*a)" * 20 + "$", "a" * 64 + "!"),
    "optional chain": _text("^" + "a?" * 60 + "a" * 60 + "$", "a" * 90 + "!"),
    "counted nest": _text("^(a{1,60}){1,60}b$", "a" * 200),
    "counted wide": _text(r"^(.?){60}[0-9]$", "a" * 200),
    "long text": _text(r"\d+\s*,\s*\d+x", "1" * 20_000),
    "many classes": _text("^" + "[Ā-￿]" * 1_500 + "$", "Ā" * 1_499),
    "back reference": _text(r"^(a+)+\1!b$"),
    "look ahead": _text("^(?=(a+)+b)a"),
    "look behind": _text("(?:(?<=a)a+)+b"),
    "negative look": _text("^(?!(a+)+$)!", LONG),
    "atomic around": _text("^(?:(?>a)+)+(?>b)"),
    "any case": _text("(?i)^(a+)+$"),
    "any case classes": _text("(?i)^" + "[Ā-￿]" * 1_500 + "(a+)+$"),
    "pattern property": ({"patternProperties": {"^(a+)+$": {"type": "integer"}}, "additionalProperties": False}, {LONG: 1}),
    "property name": ({"propertyNames": {"pattern": "^(a|aa)+$"}}, {LONG: 1}),
    "beside additional": ({"patternProperties": {"^(a+)+$": True}, "additionalProperties": {"type": "string"}}, {LONG: 1}),
    "beside unevaluated": ({"patternProperties": {"^(a+)+$": True}, "unevaluatedProperties": False}, {LONG: 1}),
    "in not": ({"not": {"not": {"pattern": "^(a+)+$"}}}, LONG),
    "in if": ({"if": {"pattern": "^(a+)+$"}, "then": True, "else": False}, LONG),
    "in contains": ({"contains": {"pattern": "^(a|aa)+$"}}, [LONG] * 50),
    "in dependent": ({"dependentSchemas": {"k": {"properties": {"k": {"pattern": "^(a+)+$"}}}}}, {"k": LONG}),
    "in prefix": ({"prefixItems": [{"pattern": "^(a+)+$"}]}, [LONG]),
    "a thousand looks": in_list("^(?=(a+)+b)a"),
    "a thousand apart": in_list(r"^(a+)+\1!$", "aa!"),
    "ref allOf": (doubling("allOf"), 1),
    "ref anyOf": (doubling("anyOf", last=False), 1),
    "ref oneOf": (doubling("oneOf", last={"type": "string"}), 1),
    "ref if": (doubling("if", 40), 1),
    "ref not": (doubling("not", 40, last=False), 1),
    "ref prefixItems": ({**doubling("allOf"), "type": "array"}, [1]),
    "anchors anyOf": (nested("anyOf", 24), "x"),
    "anchors allOf": (nested("allOf", 24), 1),
    "dynamic reference": (
        {"$dynamicAnchor": "node", "type": "array", "items": {"anyOf": [{"$dynamicRef": "#node"}] * 6}},
        [[[[[[[[1]]]]]]]],
    ),
    "tree of itself": (
        {"type": "array", "items": {"oneOf": [{"$ref": "#"}, {"$ref": "#"}, {"$ref": "#"}, {"$ref": "#"}]}},
        [[[[[[[[[[1]]]]]]]]]],
    ),
    "unevaluated doubling": ({**doubling("anyOf"), "unevaluatedProperties": False}, {"k": 1}),
    "unevaluated items doubling": ({**doubling("oneOf", last={"maxItems": 0}), "unevaluatedItems": False}, [1, 2]),
    "circle": ({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}, 1),
    "circle of all": ({"allOf": [{"$ref": "#"}, {"$ref": "#"}]}, 1),
    "circle of dynamic": ({"$dynamicAnchor": "x", "anyOf": [{"$dynamicRef": "#x"}, {"$dynamicRef": "#x"}]}, 1),
    "reference outside": ({"$ref": "https://schemas.example.com/x.json"}, 1),
    "reference to a file": ({"$ref": "file:///etc/passwd"}, 1),
    "id elsewhere": ({"$id": "https://schemas.example.com/", "$ref": "x.json"}, 1),
    "unique objects": ({"uniqueItems": True, "maxItems": 10}, [{"k": n} for n in range(20_000)]),
    "unique lists": ({"uniqueItems": True, "maxItems": 10}, [[n, {"k": n}] for n in range(20_000)]),
    "unique mixed": ({"uniqueItems": True, "maxItems": 10}, [n if n % 2 else str(n) for n in range(20_000)]),
    "unique and enum": (
        {"items": {"enum": [{"k": n} for n in range(2_000)]}, "maxItems": 10},
        [{"k": n % 2_000} for n in range(10_000)],
    ),
    "const of a large value": ({"items": {"not": {"const": [0] * 5_000}}}, [[0] * 4_999 + [1]] * 200),
    "wide enum": ({"items": {"enum": [f"k{n}" for n in range(5_000)]}, "maxItems": 3}, ["k4999"] * 20_000),
    "contains of contains": (
        {"contains": {"contains": {"contains": {"const": 1}}}},
        [[[0] * 60] * 60] * 200,
    ),
    "many patterns many names": (
        {"patternProperties": {f"^k{n}x$": True for n in range(600)}},
        {f"k{n}": 1 for n in range(600)},
    ),
    "many dependents": (
        {"items": {"dependentSchemas": {f"k{n}": False for n in range(2_000)}}},
        [{"x": 1}] * 2_000,
    ),
    "many required": (
        {"items": {"anyOf": [{"required": [f"k{n}" for n in range(500)]}] * 20}},
        [{f"k{n}": 1 for n in range(499)}] * 300,
    ),
    "multiple of a huge number": ({"multipleOf": 10**400}, 0.5),
    "multiple of what is not finite": ({"properties": {"a": {"multipleOf": float("nan")}}}, 1),
    "minimum without an end": ({"minimum": float("-inf")}, 1),
    "length that is a text": ({"$ref": "#/x", "x": {"minLength": "a"}}, "a"),
    "members that are a list": ({"$ref": "#/x", "x": {"properties": [1]}}, {"a": 1}),
    "choices that are a number": ({"$ref": "#/x", "x": {"anyOf": 7}}, 1),
    "reference that is a list": ({"$ref": "#/x", "x": {"$ref": []}}, 1),
    "address that is none": ({"items": {"$id": "http://[", "$ref": "#"}}, [1]),
    "words that are no keywords": (
        {"additionalProperties": {f"k{n}": 1 for n in range(20_000)}},
        {f"k{n}": 1 for n in range(2_000)},
    ),
}  # fmt: skip

BIG = "x" * 200_000
ROWS = list(range(1_000))

TEMPLATES: dict[str, tuple[Any, dict[str, Any]]] = {
    "x ~ x": ("{% if (x ~ x ~ x ~ x ~ x ~ x ~ x ~ x ~ x ~ x ~ x) == '' %}{% endif %}", {"x": BIG}),
    "doubling of doubling": (
        "{% if ((((x ~ x) ~ (x ~ x)) ~ ((x ~ x) ~ (x ~ x))) ~ (((x ~ x) ~ (x ~ x)) ~ ((x ~ x) ~ (x ~ x)))) == '' %}{% endif %}",
        {"x": BIG},
    ),
    "x + x": ("{% if (x + x + x + x + x + x + x + x) == '' %}{% endif %}", {"x": BIG}),
    "lists added": ("{% if (r + r + r + r + r + r + r + r + r) == '' %}{% endif %}", {"r": [0] * 100_000}),
    "loop of joins": ("{% for i in r %}{% if (x ~ i) == '' %}{% endif %}{% endfor %}", {"x": BIG, "r": ROWS}),
    "loop of upper": ("{% for i in r %}{% if (x | upper) == '' %}{% endif %}{% endfor %}", {"x": BIG, "r": ROWS}),
    "loop of lower": ("{% for i in r %}{% if x | lower %}{% endif %}{% endfor %}", {"x": BIG, "r": ROWS}),
    "loop of trim": ("{% for i in r %}{% if x | trim %}{% endif %}{% endfor %}", {"x": BIG + " ", "r": ROWS}),
    "loop of tojson": ("{% for i in r %}{% if x | tojson %}{% endif %}{% endfor %}", {"x": [BIG], "r": ROWS}),
    "loop of string": ("{% for i in r %}{% if x | string %}{% endif %}{% endfor %}", {"x": [BIG], "r": ROWS}),
    "loop of comparisons": ("{% for i in r %}{% if x == y %}{% endif %}{% endfor %}", {"x": [BIG] * 50, "y": [BIG] * 50, "r": ROWS * 20}),
    "comparison of texts": (
        "{% for i in r %}{% if x < y %}{% endif %}{% endfor %}",
        {"x": BIG, "y": BIG + "y", "r": ROWS * 20},
    ),
    "comparison in a row": ("{% for i in r %}{% if x == y == x %}{% endif %}{% endfor %}", {"x": BIG, "y": BIG + "", "r": ROWS * 20}),
    "test of equality": ("{% for i in r %}{% if x is eq(y) %}{% endif %}{% endfor %}", {"x": [BIG] * 50, "y": [BIG] * 50, "r": ROWS * 20}),
    "test of order": ("{% for i in r %}{% if x is le(y) %}{% endif %}{% endfor %}", {"x": BIG, "y": BIG + "y", "r": ROWS * 20}),
    "test of in": ("{% for i in r %}{% if 'z' is in(x) %}{% endif %}{% endfor %}", {"x": [BIG] * 500, "r": ROWS * 90}),
    "in a list": ("{% for i in r %}{% if -1 in s %}{% endif %}{% endfor %}", {"s": list(range(5_000)), "r": ROWS * 20}),
    "not in a list": ("{% for i in r %}{% if -1 not in s %}{% endif %}{% endfor %}", {"s": list(range(5_000)), "r": ROWS * 20}),
    "in a text": ("{% for i in r %}{% if y in x %}{% endif %}{% endfor %}", {"x": "a" * 200_000, "y": "a" * 90 + "b", "r": ROWS * 20}),
    "list in lists": ("{% for i in r %}{% if s in t %}{% endif %}{% endfor %}", {"s": ROWS, "t": [[*ROWS[:-1], -1]] * 50, "r": ROWS}),
    "condition of a loop": ("{% for i in r if (x | upper) == '' %}{% endfor %}", {"x": BIG, "r": ROWS}),
    "slices": ("{% for i in r %}{% if x[1:] %}{% endif %}{% endfor %}", {"x": BIG, "r": ROWS}),
    "slices of lists": ("{% for i in r %}{% if x[1:] %}{% endif %}{% endfor %}", {"x": [0] * 100_000, "r": ROWS}),
    "list of texts": ("{% if [" + "x," * 200 + "] | tojson %}{% endif %}", {"x": BIG}),
    "list put out": ("{{ [" + "x," * 200 + "] }}", {"x": [BIG]}),
    "join of texts": ("{% if [" + "x," * 20 + "] | join %}{% endif %}", {"x": BIG}),
    "join of a separator": ("{% for i in r %}{% if r | join(x) %}{% endif %}{% endfor %}", {"x": BIG, "r": ROWS}),
    "join in a loop": ("{% for i in r %}{% if s | join %}{% endif %}{% endfor %}", {"s": ["y" * 900] * 900, "r": ROWS}),
    "items in a loop": ("{% for i in r %}{% if o | items %}{% endif %}{% endfor %}", {"o": {f"k{n}": n for n in range(50_000)}, "r": ROWS}),
    "loop in a loop": ("{% for i in r %}{% for j in r %}{% endfor %}{% endfor %}", {"r": ROWS}),
    "loop of a large body": ("{% for i in r %}" + "{% if i %}{% endif %}" * 400 + "{% endfor %}", {"r": ROWS * 90}),
    "large list in a loop": ("{% for i in r %}{% if [" + "1," * 900 + "] %}{% endif %}{% endfor %}", {"r": ROWS * 90}),
    "choice of texts": ("{% for i in r %}{% if (x ~ 'a' if i else x ~ 'b') == '' %}{% endif %}{% endfor %}", {"x": BIG, "r": ROWS}),
    "default of a joined text": ("{% for i in r %}{% if (none | default(x ~ x, true)) == '' %}{% endif %}{% endfor %}", {"x": BIG, "r": ROWS}),
    "put out often": ("{% for i in r %}{{ x }}{% endfor %}", {"x": BIG, "r": ROWS}),
    "json put out often": ("{% for i in r %}{{ x }}{% endfor %}", {"x": [BIG], "r": ROWS}),
    "tree of joined texts": ([{"k": "{% if (x ~ x) == '' %}{% endif %}"}] * 100, {"x": BIG}),
    "tree of values": (["{{ x }}"] * 100, {"x": BIG}),
    "tree of lists as text": (["a{{ x }}"] * 100, {"x": [BIG]}),
    "number without an end": ("{{ " + "9" * 5_000 + " }}", {}),
    "language without an end": ("{{ a ~ " + "a ~ " * 40_000 + "a }}", {"a": "x"}),
    "language behind a quoted mark": ("{{ '}}' ~ a" + " ~ a" * 40_000 + " }}", {"a": "x"}),
    "comparisons in a row": ("{{ a" + " < a" * 20_000 + " }}", {"a": "x"}),
    "lists in a list": ("{{ [" + "[]," * 30_000 + "] | length ~ a }}", {"a": "x"}),
    "branches": ("{% if a %}" + "{% elif a %}" * 9_000 + "{% endif %}", {"a": "x"}),
    "comments": ("{##}" * 30_000 + "{{ a ~ a }}", {"a": "x"}),
    "not not not": ("{{ " + "not " * 2_000 + "a }}", {"a": 1}),
    "minus minus": ("{{ " + "-" * 180 + "a }}", {"a": 1}),
    "brackets": ("{{ " + "(" * 900 + "a" + ")" * 900 + " }}", {"a": 1}),
    "long path": ("{{ a" + ".b" * 200 + " | upper }}", {"a": {}}),
    "long row of filters": ("{{ a" + " | d" * 150 + " }}", {"a": 1}),
    "long sum": ("{{ a" + " + a" * 90 + " }}", {"a": 1}),
    "slices of slices": ("{{ a" + "[1:]" * 150 + " }}", {"a": "x"}),
    "loops in loops": ("{% for i in a %}" * 19 + "{% endfor %}" * 19, {"a": []}),
    "ifs in ifs": ("{% if a %}" * 90 + "{% endif %}" * 90, {"a": 1}),
    "power": ("{{ 10 ** 10 ** 10 ~ a }}", {"a": 1}),
    "text times a number": ("{{ 'a' * 1000000 * 1000 ~ a }}", {"a": 1}),
    "many small ones": ([f"{{{{ a ~ {number} }}}}" for number in range(3_000)], {"a": 1}),
    "many large ones": (["{{ a" + " ~ a" * 2_000 + f" ~ {number} }}}}" for number in range(40)], {"a": 1}),
}  # fmt: skip

PATTERNS: dict[str, tuple[str, str]] = {
    "nested plus": ("(a+)+$", LONG),
    "nested star": ("(a*)*b", LONG),
    "overlapping choice": ("(a|aa)+$", LONG),
    "back reference": (r"(a+)+\1$", LONG),
    "look ahead": ("(?=(a+)+b)a", LONG),
    "counted nest": ("(a{1,60}){1,60}b", LONG),
    "optional chain": ("a?" * 60 + "a" * 60 + "$", "a" * 90 + "!"),
    "long text": (r"\d+\s*,\s*\d+x", "1" * 200_000),
    "any case classes": ("(?i)" + "[Ā-￿]" * 1_500 + "x", "Ā" * 1_500),
    "endless empty": ("(?:){1000000000}", "a"),
    "memory": ("(?:a|b|(?:ab))*c", "ab" * 400_000),
}

SAMPLED: dict[str, Any] = {
    "long list": {"type": "array", "minItems": 10**9},
    "long text": {"type": "string", "minLength": 10**9},
    "many members": {"type": "object", "minProperties": 10**9},
    "many contained": {"type": "array", "contains": {"const": 1}, "minContains": 10**9},
    "lists of lists": {"$defs": {"d0": {"type": "string"}, **{f"d{n}": {"type": "array", "minItems": 9, "items": {"$ref": f"#/$defs/d{n - 1}"}} for n in range(1, 20)}}, "$ref": "#/$defs/d19"},
    "lists of long texts": {"type": "array", "minItems": 9_000, "items": {"type": "string", "minLength": 9_000}},
    "required doubling": {"$defs": {"d0": {"type": "string"}, **{f"d{n}": {"type": "object", "required": ["a", "b"], "properties": {"a": {"$ref": f"#/$defs/d{n - 1}"}, "b": {"$ref": f"#/$defs/d{n - 1}"}}} for n in range(1, 24)}}, "$ref": "#/$defs/d23"},
    "choices of choices": {**doubling("anyOf", 24, last=False), "type": "string"},
    "all of all": {**doubling("allOf", 24, last={"type": "integer"}), "minimum": 3, "maximum": 2},
    "a tree that has no end": {"type": "object", "required": ["child"], "properties": {"child": {"$ref": "#"}}},
    "circle": {"allOf": [{"$ref": "#"}]},
    "repeated repetition": {"type": "string", "pattern": "^((((a{99}){99}){99}){99}){99}$"},
    "nested plus": {"type": "string", "pattern": "^(a+)+b{9}c(?!x)$", "minLength": 50, "not": {}},
    "negated classes": {"type": "string", "pattern": "[^Ā]" * 2_000, "maxLength": 5},
    "no number": {"type": "number", "minimum": 1e308, "multipleOf": 1e-308, "exclusiveMaximum": 1e308},
    "unique and few": {"type": "array", "minItems": 5_000, "uniqueItems": True, "items": {"type": "integer"}},
    "wide enum of nothing": {"enum": [{"k": n} for n in range(50_000)], "type": "string"},
    "large constant": {"const": ["x" * 1_000] * 50_000, "type": "object"},
}  # fmt: skip
