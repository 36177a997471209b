"""How a check reports, by the words that files and options use."""

from __future__ import annotations

FORMATS = ("text", "concise", "json", "sarif", "github", "gitlab", "junit")

FAIL_ON = ("never", "error", "warning", "info")
"""The severities from which on a finding fails a check, from the most patient to the strictest."""
