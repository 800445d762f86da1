"""File URIs as editors write them (percent-encoded drive colons and all) to absolute paths."""

from __future__ import annotations

import os
import sys
from urllib.parse import unquote, urlsplit


def path_of(uri: str) -> str | None:
    """The absolute path of a `file:` URI, None for any other scheme."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    if parts.scheme != "file":
        return None
    path = unquote(parts.path)
    if sys.platform == "win32":
        if parts.netloc:
            return f"\\\\{parts.netloc}{path}".replace("/", "\\")
        return path.lstrip("/").replace("/", "\\")
    return os.path.normpath(path) if path.startswith("/") else None
