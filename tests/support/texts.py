"""Texts as an editor changes them."""

from __future__ import annotations

from lsprotocol import types

from autograd_lsp.text.positions import Encoding, lsp_index


def edited(text: str, where: types.Range, replacement: str, encoding: Encoding) -> str:
    start, _ = lsp_index(text, where.start.line, where.start.character, encoding)
    end, _ = lsp_index(text, where.end.line, where.end.character, encoding)
    return text[:start] + replacement + text[end:]
