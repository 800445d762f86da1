"""File URIs to absolute paths and back, as editors write them (percent-encoded drive colons and all)."""

from __future__ import annotations

import os
import sys
from urllib.parse import quote, unquote, urlsplit


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


def uri_of(path: str) -> str:
    """The `file:` URI of an absolute path."""
    if sys.platform == "win32":
        return "file:///" + quote(path.replace("\\", "/"), safe="/~:@!$&'()*+,;=")
    return "file://" + quote(path, safe="/~:@!$&'()*+,;=")
