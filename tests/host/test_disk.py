"""The disk itself: what cannot be written stays as it was, and no link leads a judged path elsewhere."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from acp_bridge.host.disk import DiskError, Shape, read_text, write_text


def test_a_file_that_cannot_be_written_is_left_alone(tmp_path: Path) -> None:
    latin = tmp_path / "latin"
    latin.write_bytes(b"caf\xe9")
    with pytest.raises(DiskError, match="latin-1"):
        write_text(str(latin), "→", read_text(str(latin))[1])
    locked = tmp_path / "locked"
    locked.write_text("x")
    locked.chmod(0o444)
    with pytest.raises(DiskError, match="read-only"):
        write_text(str(locked), "y", read_text(str(locked))[1])
    with pytest.raises(DiskError, match="folder"):
        write_text(str(tmp_path), "y", read_text(str(latin))[1])
    assert (latin.read_bytes(), locked.read_text()) == (b"caf\xe9", "x")
    assert sorted(os.listdir(tmp_path)) == ["latin", "locked"]


@pytest.mark.parametrize("what", ["file", "folder"])
def test_a_link_that_comes_into_a_judged_path_is_not_followed(tmp_path: Path, what: str) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    for folder in (inside, outside):
        folder.mkdir()
        (folder / "a").write_text(folder.name)
    if what == "file":
        (inside / "a").unlink()
        (inside / "a").symlink_to(outside / "a")
    else:
        inside.rename(tmp_path / "was")
        inside.symlink_to(outside)
    path = str(inside / "a")
    with pytest.raises(DiskError, match=r"link|regular"):
        read_text(path, exact=True)
    with pytest.raises(DiskError, match=r"link|regular"):
        write_text(path, "x", Shape(), exact=True)
    assert (outside / "a").read_text() == "out"
    assert os.listdir(outside) == ["a"]
    assert read_text(path)[0] == "out"
