"""A file cannot be read.

There is no such file, nobody may read it, it is a pipe or a device, or it is not text: a Python file is UTF-8 unless a
byte order mark or a coding comment in its first two lines says otherwise, and a notebook is JSON. Nothing is said of
the file, and `check` exits with 2: a report that leaves out a file is not mistaken for one without findings. The
finding cannot be ignored.
"""

from __future__ import annotations

from analyzers.drafting.base import Rule

RULE = Rule("AG001", "unreadable-file", "A file cannot be read", None, __doc__ or "")
