"""What a Neovim shows: an attached UI that keeps the grid, as text and as a picture (HTML).

Speaks the `ext_linegrid` UI events of `:help ui-linegrid`; nothing of the screen is asked of the code under
test.
"""

from __future__ import annotations

import html
import threading
from dataclasses import dataclass, field
from typing import Any

import pynvim


@dataclass
class Cell:
    text: str = " "
    style: int = 0


@dataclass
class Grid:
    """The one grid of a UI without multigrid."""

    width: int = 0
    height: int = 0
    cells: list[list[Cell]] = field(default_factory=list)
    styles: dict[int, dict[str, Any]] = field(default_factory=dict)
    foreground: int = 0xFFFFFF
    background: int = 0
    cursor: tuple[int, int] = (0, 0)

    def apply(self, name: str, arguments: list[Any]) -> None:
        handler = getattr(self, f"_on_{name}", None)
        if handler is not None:
            handler(*arguments)

    def _on_grid_resize(self, _grid: int, width: int, height: int) -> None:
        old = self.cells
        self.width, self.height = width, height
        self.cells = [[Cell() for _ in range(width)] for _ in range(height)]
        for row, line in enumerate(old[:height]):
            self.cells[row][: min(width, len(line))] = line[:width]

    def _on_grid_clear(self, _grid: int) -> None:
        self.cells = [[Cell() for _ in range(self.width)] for _ in range(self.height)]

    def _on_grid_line(self, _grid: int, row: int, column: int, cells: list[Any], *_rest: Any) -> None:
        style = 0
        for cell in cells:
            if len(cell) > 1:
                style = cell[1]
            for _ in range(cell[2] if len(cell) > 2 else 1):
                self.cells[row][column] = Cell(cell[0], style)
                column += 1

    def _on_grid_scroll(
        self, _grid: int, top: int, bottom: int, left: int, right: int, rows: int, _columns: int
    ) -> None:
        wanted = range(top, bottom - rows) if rows > 0 else range(bottom - 1, top - rows - 1, -1)
        for row in wanted:
            self.cells[row][left:right] = list(self.cells[row + rows][left:right])

    def _on_grid_cursor_goto(self, _grid: int, row: int, column: int) -> None:
        self.cursor = (row, column)

    def _on_hl_attr_define(self, style: int, rgb: dict[str, Any], *_rest: Any) -> None:
        self.styles[style] = rgb

    def _on_default_colors_set(self, foreground: int, background: int, *_rest: Any) -> None:
        self.foreground, self.background = foreground, background

    def lines(self) -> list[str]:
        """The rows as text, trailing blanks cut."""
        return ["".join(cell.text for cell in row).rstrip() for row in self.cells]

    def as_html(self) -> str:
        """The screen as one page, with its colours."""
        rows = "\n".join(self._row(index) for index in range(self.height))
        style = (
            f"body{{margin:0;background:#{self.background:06x};color:#{self.foreground:06x}}}"
            "pre{margin:8px;font:14px/18px 'DejaVu Sans Mono',monospace}"
        )
        return f"<!doctype html><meta charset=utf-8><style>{style}</style><pre>{rows}</pre>"

    def _row(self, row: int) -> str:
        parts: list[str] = []
        run, run_style = "", -1
        for column, cell in enumerate(self.cells[row]):
            style = -2 if (row, column) == self.cursor else cell.style
            if style != run_style:
                parts.append(self._span(run, run_style, row))
                run, run_style = "", style
            run += cell.text
        return "".join([*parts, self._span(run, run_style, row)])

    def _span(self, text: str, style: int, row: int) -> str:
        if not text:
            return ""
        rgb = self.styles.get(style, {}) if style != -2 else {"reverse": True}
        front, back = rgb.get("foreground", self.foreground), rgb.get("background", self.background)
        if rgb.get("reverse"):
            front, back = back, front
        css = f"color:#{front:06x};background:#{back:06x}"
        css += ";font-weight:bold" if rgb.get("bold") else ""
        css += ";font-style:italic" if rgb.get("italic") else ""
        css += ";text-decoration:underline" if rgb.get("underline") or rgb.get("undercurl") else ""
        return f'<span style="{css}">{html.escape(text)}</span>'


class Screen:
    """A UI of its own connection and thread, attached to the Neovim that listens at `address`."""

    def __init__(self, address: str, width: int, height: int) -> None:
        self.grid = Grid()
        self._lock = threading.Lock()
        self._ready = threading.Event()
        arguments = (address, width, height)
        self._thread = threading.Thread(target=self._run, args=arguments, daemon=True)
        self._thread.start()
        assert self._ready.wait(20), "Neovim took no UI"

    def _run(self, address: str, width: int, height: int) -> None:
        nvim = pynvim.attach("socket", path=address)
        nvim.ui_attach(width, height, rgb=True, ext_linegrid=True)
        self._ready.set()
        try:
            nvim.run_loop(None, self._redraw)
        except (OSError, EOFError):
            return

    def _redraw(self, name: str, events: list[Any]) -> None:
        if name != "redraw":
            return
        with self._lock:
            for event in events:
                for arguments in event[1:]:
                    self.grid.apply(event[0], arguments)

    def lines(self) -> list[str]:
        with self._lock:
            return self.grid.lines()

    def text(self) -> str:
        """The whole screen, a line a row."""
        return "\n".join(self.lines())

    def as_html(self) -> str:
        with self._lock:
            return self.grid.as_html()
