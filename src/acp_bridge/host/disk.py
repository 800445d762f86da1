"""Text files on the disk as the user left them: encoding, byte order mark, line ends, mode.

Guarantees
- What is read and written back unchanged is byte for byte the same file.
- A write is atomic: at any moment the file is the old one or the new one, never a half.
"""

from __future__ import annotations

import codecs
import contextlib
import os
import stat
import uuid
from dataclasses import dataclass
from pathlib import Path

# Longest first: the mark of UTF-16 LE begins that of UTF-32 LE.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class DiskError(Exception):
    """A file could not be read or written as text; says which and why. `missing` if it is not there."""

    def __init__(self, message: str, *, missing: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.missing = missing


@dataclass(frozen=True, slots=True)
class Shape:
    """What surrounds the text: its encoding, the mark before it, the line end all its lines share."""

    encoding: str = "utf-8"
    mark: bytes = b""
    newline: str = "\n"


def read_text(path: str) -> tuple[str, Shape]:
    """The text of a file, line ends as they are, and its shape. Raises DiskError."""
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        raise DiskError(f"{path} does not exist", missing=True) from None
    except IsADirectoryError:
        raise DiskError(f"{path} is a folder, not a file") from None
    except (OSError, ValueError) as error:
        raise DiskError(f"{path} cannot be read: {_why(error)}") from None
    return decode(data, path)


def decode(data: bytes, path: str) -> tuple[str, Shape]:
    """Bytes to text and shape. Without a mark: UTF-8, else Latin-1; NUL bytes mean that it is no text."""
    mark, encoding = next(((m, e) for m, e in _MARKS if data.startswith(m)), (b"", "utf-8"))
    body = data[len(mark) :]
    if not mark and b"\0" in body:
        raise DiskError(f"{path} is not a text file (it contains NUL bytes)")
    try:
        text = body.decode(encoding)
    except UnicodeDecodeError:
        if mark:
            raise DiskError(f"{path} is marked as {encoding} and is not") from None
        encoding = "latin-1"
        text = body.decode(encoding)
    return text, Shape(encoding, mark, line_end(text))


def line_end(text: str) -> str:
    """The line end that every line of the text has; `\\n` where they are mixed or there is none."""
    crlf = text.count("\r\n")
    if crlf and crlf == text.count("\n"):
        return "\r\n"
    return "\n"


def with_line_ends(text: str, newline: str) -> str:
    """`text` with the line ends of the file it goes to, unless it brings CRLF of its own."""
    return text.replace("\n", newline) if newline != "\n" and "\r\n" not in text else text


def write_text(path: str, text: str, shape: Shape) -> None:
    """Write atomically; parents are made, a link is followed, the mode kept. Raises DiskError."""
    try:
        data = shape.mark + text.encode(shape.encoding)
    except UnicodeEncodeError as error:
        bad = text[error.start : error.end]
        raise DiskError(f"{path} is {shape.encoding}, which has no {bad!r}; nothing was written") from None
    target = os.path.realpath(path)
    try:
        _replace(target, data)
    except (OSError, ValueError) as error:
        raise DiskError(f"{path} cannot be written: {_why(error)}") from None


def _replace(target: str, data: bytes) -> None:
    folder = os.path.dirname(target)
    os.makedirs(folder, exist_ok=True)
    before = _status(target)
    if before is not None:
        if stat.S_ISDIR(before.st_mode):
            raise IsADirectoryError(21, "it is a folder")
        if not stat.S_ISREG(before.st_mode):
            raise OSError(22, "it is no regular file")
        if not before.st_mode & 0o222:
            raise PermissionError(13, "it is read-only")
    mode = 0o666 if before is None else stat.S_IMODE(before.st_mode)
    temporary = os.path.join(folder, f".acp-bridge-{uuid.uuid4().hex}")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if before is not None:
            os.chmod(temporary, mode)
            if hasattr(os, "chown"):
                with contextlib.suppress(OSError):
                    os.chown(temporary, before.st_uid, before.st_gid)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _status(target: str) -> os.stat_result | None:
    try:
        return os.stat(target)
    except FileNotFoundError:
        return None


def _why(error: Exception) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)
