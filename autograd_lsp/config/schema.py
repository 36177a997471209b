"""The JSON schemas of what can be configured, made of the keys as they are read: for editors, and for other tools.

Rules are listed in the spelling of their pages, though they are read in any case, so that an editor can offer them.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from analyzers.rules import RULES
from autograd_lsp.config import display, layer
from autograd_lsp.config.reporting import FAIL_ON, FORMATS
from autograd_lsp.config.selectors import LEVELS
from autograd_lsp.text.urls import DOCUMENTATION

Schema = dict[str, Any]

_DRAFT = "http://json-schema.org/draft-07/schema#"
_RULE: Schema = {"$ref": "#/definitions/rule"}
_RULES: Schema = {"type": "array", "items": _RULE}
_VALUES: dict[object, Schema] = {
    layer.read_selectors: _RULES,
    layer.read_patterns: {"type": "array", "items": {"type": "string"}},
    layer.read_selectors_by_pattern: {"type": "object", "additionalProperties": _RULES},
    layer.read_severities: {
        "type": "object",
        "propertyNames": _RULE,
        "additionalProperties": {"enum": [*LEVELS]},
    },
    layer.read_path: {"type": "string"},
    layer.read_count: {"type": "integer", "minimum": 1},
    layer.read_fail_on: {"type": "string", "enum": [*FAIL_ON]},
    layer.read_format: {"type": "string", "enum": [*FORMATS]},
    layer.read_version: {"type": "string", "pattern": r"^\d+\.\d+"},
}
"""By the function that reads a value."""


def file_schema() -> Schema:
    """Of `autograd-lsp.toml`, and of the table `[tool.autograd-lsp]` of a `pyproject.toml`."""
    properties = {
        name: _described(_VALUES[key.read], key.about) for name, key in {**layer.KEYS, **layer.IN_FILES}.items()
    }
    title = "autograd-lsp.toml, or [tool.autograd-lsp] in pyproject.toml"
    return {**_head("autograd-lsp", title), "properties": properties, "additionalProperties": False}


def settings_schema() -> Schema:
    """Of the section `autograd-lsp` of an editor's settings, which may hold what is for the editor alone, too."""
    properties: Schema = {}
    for name, key in layer.KEYS.items():
        for spelling in (name, *(camel for camel, meant in layer.CAMEL.items() if meant == name)):
            properties[spelling] = _described(_or_null(_VALUES[key.read]), key.about)
    defaults = {field.name: field.default for field in fields(display.Display)}
    for (*groups, key_name), (field, about) in display.KEYS.items():
        inside = properties
        for group in groups:
            inside = inside.setdefault(group, {**_or_null({"type": "object"}), "properties": {}})["properties"]
        inside[key_name] = _described(_or_null({"type": "boolean", "default": defaults[field]}), about)
    return {**_head("settings", "The autograd-lsp section of an editor's settings"), "properties": properties}


def _head(name: str, title: str) -> Schema:
    return {
        "$schema": _DRAFT,
        "$id": f"{DOCUMENTATION}schemas/{name}.schema.json",
        "title": title,
        "type": "object",
        "definitions": {"rule": {"enum": _selectors()}},
    }


def _selectors() -> list[str]:
    codes = sorted(rule.code for rule in RULES)
    beginnings = sorted({code[:length] for code in codes for length in range(len("AG"), len(code))})
    return ["ALL", *beginnings, *codes, *sorted(rule.name for rule in RULES)]


def _described(value: Schema, about: str) -> Schema:
    return {"description": about, **value}


def _or_null(value: Schema) -> Schema:
    return {**value, "type": [value["type"], "null"]}
