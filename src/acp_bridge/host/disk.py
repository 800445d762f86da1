"""Text files on the disk as the user left them: encoding, byte order mark, line ends, mode.

Guarantees
- What is read and written back unchanged is byte for byte the same file.
- A write is atomic: at any moment the file is the old one or the new one, never a half. It makes a new file
  of that name; other names of the old one (hard links) keep the old text.
- Only regular files are touched: a pipe or a device is never waited for.
- `exact` paths hold no link: what one that came into the path meanwhile leads to is neither read nor written.
"""

from __future__ import annotations

import codecs
import contextlib
import errno
import os
import stat
import uuid
from dataclasses import dataclass

# Longest first: the mark of UTF-16 LE begins that of UTF-32 LE.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

READ_LIMIT = 64 * 1024 * 1024
"""Bytes of the longest file that is read as text."""


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


def read_text(path: str, *, exact: bool = False) -> tuple[str, Shape]:
    """The text of a file, line ends as they are, and its shape. Raises DiskError."""
    try:
        data = _read(path, exact)
    except FileNotFoundError:
        raise DiskError(f"{path} does not exist", missing=True) from None
    except (OSError, ValueError) as error:
        raise DiskError(f"{path} cannot be read: {_why(error)}") from None
    return decode(data, path)


def _read(path: str, exact: bool) -> bytes:
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
    with os.fdopen(os.open(path, flags), "rb") as file:
        _check_regular(os.fstat(file.fileno()))
        if exact:
            _check_place(file.fileno(), path)
        data = file.read(READ_LIMIT + 1)
    if len(data) > READ_LIMIT:
        raise OSError(errno.EFBIG, f"it is larger than {READ_LIMIT // 1024 // 1024} MiB")
    return data


def _check_regular(status: os.stat_result) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, "it is a folder, not a file")
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is no regular file")


def _check_place(handle: int, path: str) -> None:
    """Whether what was opened is what lies at `path`, and no link has come into that meanwhile."""
    with contextlib.suppress(OSError):
        if os.readlink(f"/proc/self/fd/{handle}") in (path, f"{path} (deleted)"):
            return
    if os.path.realpath(path) != path or not os.path.samestat(os.fstat(handle), os.stat(path)):
        raise OSError(errno.ELOOP, "a link has come into its path")


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


def write_text(path: str, text: str, shape: Shape, *, exact: bool = False) -> None:
    """Write atomically; parents are made, a link is followed, the mode kept. Raises DiskError."""
    try:
        data = shape.mark + (text.removeprefix("\ufeff") if shape.mark else text).encode(shape.encoding)
    except UnicodeEncodeError as error:
        bad = text[error.start : error.end]
        raise DiskError(f"{path} is {shape.encoding}, which has no {bad!r}; nothing was written") from None
    try:
        _replace(path if exact else os.path.realpath(path), data)
    except (OSError, ValueError) as error:
        raise DiskError(f"{path} cannot be written: {_why(error)}") from None


def _replace(target: str, data: bytes) -> None:
    folder, name = os.path.split(target)
    os.makedirs(folder, exist_ok=True)
    with _Folder(folder) as place:
        before = place.status(name)
        if before is not None:
            _check_regular(before)
            if not before.st_mode & 0o222:
                raise PermissionError(errno.EACCES, "it is read-only")
        temporary = f".acp-bridge-{uuid.uuid4().hex}"
        try:
            place.write(temporary, data, before)
            place.rename(temporary, name)
        except BaseException:
            with contextlib.suppress(OSError):
                place.remove(temporary)
            raise


class _Folder:
    """A folder held open, so that nothing that happens to its path leads a write elsewhere. Where the system
    knows no such thing, names are joined to the path."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._handle: int | None = None

    def __enter__(self) -> _Folder:
        if os.open in os.supports_dir_fd:
            handle = os.open(self._path, os.O_RDONLY | os.O_DIRECTORY)
            try:
                _check_place(handle, self._path)
            except BaseException:
                os.close(handle)
                raise
            self._handle = handle
        return self

    def __exit__(self, *_: object) -> None:
        if self._handle is not None:
            os.close(self._handle)

    def _name(self, name: str) -> str:
        return name if self._handle is not None else os.path.join(self._path, name)

    def status(self, name: str) -> os.stat_result | None:
        try:
            return os.stat(self._name(name), dir_fd=self._handle, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def write(self, name: str, data: bytes, like: os.stat_result | None) -> None:
        """A new file, on the disk when this returns, with the mode and the owner of `like`."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        mode = 0o666 if like is None else stat.S_IMODE(like.st_mode)
        with os.fdopen(os.open(self._name(name), flags, mode, dir_fd=self._handle), "wb") as file:
            file.write(data)
            file.flush()
            if like is not None and self._handle is not None:
                with contextlib.suppress(OSError):
                    os.fchown(file.fileno(), like.st_uid, like.st_gid)
                os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())

    def rename(self, name: str, target: str) -> None:
        folder = self._handle
        os.replace(self._name(name), self._name(target), src_dir_fd=folder, dst_dir_fd=folder)

    def remove(self, name: str) -> None:
        os.unlink(self._name(name), dir_fd=self._handle)


def _why(error: Exception) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)
