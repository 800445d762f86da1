"""Both transport backends: the same promises, kept over real pipes, sockets, files and terminals."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from acp_bridge.jsonrpc.framing import Ndjson
from acp_bridge.jsonrpc.messages import ConnectionClosed
from acp_bridge.jsonrpc.peer import Peer
from acp_bridge.jsonrpc.threads import ThreadTransport
from acp_bridge.jsonrpc.transport import Backend, Transport, open_fds
from jsonrpc.recorder import Recorder, line, notification

PATIENCE = 60
KIB, MIB = 1 << 10, 1 << 20

pytestmark = pytest.mark.skipif(os.name == "nt", reason="optional: pipes are made the POSIX way here")


class Ear:
    """A receiver that remembers, and can be waited for."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.ends = 0
        self.drains = 0
        self.on_data: Callable[[bytes], None] = lambda _: None
        self._news = asyncio.Event()

    def data_received(self, data: bytes) -> None:
        assert not self.ends
        self.data += data
        self._news.set()
        self.on_data(data)

    def eof_received(self) -> None:
        self.ends += 1
        self._news.set()

    def drained(self) -> None:
        self.drains += 1
        self._news.set()

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not condition():
                self._news.clear()
                await self._news.wait()


class Pipes:
    """A transport under test between two pipes; `far_in` and `far_out` are the other side's ends."""

    def __init__(self) -> None:
        self.read_fd, self.far_out = os.pipe()
        self.far_in, self.write_fd = os.pipe()
        self.ear = Ear()
        self._far = {self.far_in, self.far_out}

    async def open(self, backend: Backend, **options: Any) -> Transport:
        return await open_fds(self.read_fd, self.write_fd, self.ear, backend=backend, **options)

    def close_far_in(self) -> None:
        self._close(self.far_in)

    def close_far_out(self) -> None:
        self._close(self.far_out)

    def close_far(self) -> None:
        for fd in tuple(self._far):
            self._close(fd)

    def write_all_and_close(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self.far_out, view[: 64 * KIB]) :]
        self.close_far_out()

    def _close(self, fd: int) -> None:
        """Once only: the number may belong to somebody else afterwards."""
        self._far.remove(fd)
        os.close(fd)


@pytest.fixture(params=["asyncio", "threads"])
def backend(request: pytest.FixtureRequest) -> Backend:
    return request.param


@pytest.fixture
async def pipes() -> AsyncIterator[Pipes]:
    made = Pipes()
    yield made
    made.close_far()


@pytest.fixture(autouse=True)
def no_thread_dies() -> Iterator[None]:
    """An exception in one of the transport's threads fails the test."""
    died: list[BaseException | None] = []
    before, threading.excepthook = threading.excepthook, lambda args: died.append(args.exc_value)
    yield
    threading.excepthook = before
    assert died == []


def read_exactly(fd: int, count: int) -> bytes:
    data = bytearray()
    while len(data) < count:
        piece = os.read(fd, min(MIB, count - len(data)))
        assert piece, f"the stream ended after {len(data)} of {count} bytes"
        data += piece
    return bytes(data)


def read_to_end(fd: int) -> bytes:
    data = bytearray()
    while piece := os.read(fd, MIB):
        data += piece
    return bytes(data)


async def in_thread(run: Callable[..., Any], *arguments: Any) -> Any:
    async with asyncio.timeout(PATIENCE):
        return await asyncio.to_thread(run, *arguments)


def numbered(size: int) -> bytes:
    """Bytes of which each 8 say where they belong."""
    return b"".join(b"%07d\n" % number for number in range(size // 8))


async def test_bytes_go_both_ways(pipes: Pipes, backend: Backend) -> None:
    transport = await pipes.open(backend)
    os.write(pipes.far_out, b"hello")
    await pipes.ear.until(lambda: pipes.ear.data == b"hello")
    transport.write(b"wor")
    transport.write(b"")
    transport.write(b"ld")
    assert await in_thread(read_exactly, pipes.far_in, 5) == b"world"
    transport.close()


async def test_nothing_is_called_before_it_is_open(pipes: Pipes, backend: Backend) -> None:
    os.write(pipes.far_out, b"early")
    pipes.close_far_out()
    transport = await pipes.open(backend)
    assert (pipes.ear.data, pipes.ear.ends) == (b"", 0)
    await pipes.ear.until(lambda: pipes.ear.ends == 1)
    assert pipes.ear.data == b"early"
    transport.close()


async def test_one_socket_for_both_directions(backend: Backend) -> None:
    ours, theirs = socket.socketpair()
    ear = Ear()
    fd = ours.detach()
    transport = await open_fds(fd, fd, ear, backend=backend)
    data = numbered(2 * MIB)
    transport.write(data)
    transport.close_write()
    assert await in_thread(read_to_end, theirs.fileno()) == data
    theirs.sendall(b"still heard")
    theirs.close()
    await ear.until(lambda: ear.ends == 1)
    assert ear.data == b"still heard"
    transport.close()


async def test_closing_the_writing_side_flushes_and_leaves_the_reading_side(
    pipes: Pipes, backend: Backend
) -> None:
    transport = await pipes.open(backend)
    data = numbered(3 * MIB)
    transport.write(data)
    transport.close_write()
    transport.write(b"too late")
    assert await in_thread(read_to_end, pipes.far_in) == data
    os.write(pipes.far_out, b"answer")
    await pipes.ear.until(lambda: pipes.ear.data == b"answer")
    transport.close()


async def test_closing_the_writing_side_with_nothing_queued(pipes: Pipes, backend: Backend) -> None:
    transport = await pipes.open(backend)
    transport.close_write()
    transport.close_write()
    assert await in_thread(read_to_end, pipes.far_in) == b""
    transport.close()


async def test_their_half_close_leaves_our_writing_side(pipes: Pipes, backend: Backend) -> None:
    transport = await pipes.open(backend)
    pipes.close_far_out()
    await pipes.ear.until(lambda: pipes.ear.ends == 1)
    transport.write(b"last words")
    assert await in_thread(read_exactly, pipes.far_in, 10) == b"last words"
    transport.close()
    assert pipes.ear.ends == 1


async def test_a_reader_that_sleeps_loses_nothing(pipes: Pipes, backend: Backend) -> None:
    transport = await pipes.open(backend, high_water=256 * KIB)
    data = numbered(16 * MIB)
    began = time.monotonic()
    for at in range(0, len(data), 4 * KIB):
        transport.write(data[at : at + 4 * KIB])
    assert time.monotonic() - began < 10
    assert transport.congested
    assert transport.unsent > 15 * MIB
    assert pipes.ear.drains == 0
    flushed = asyncio.create_task(transport.flushed())
    await asyncio.sleep(0)
    assert not flushed.done()
    assert await in_thread(read_exactly, pipes.far_in, len(data)) == data
    await pipes.ear.until(lambda: pipes.ear.drains == 1)
    async with asyncio.timeout(PATIENCE):
        await flushed
    assert (transport.unsent, transport.congested) == (0, False)
    transport.close()


async def test_the_water_marks(pipes: Pipes, backend: Backend) -> None:
    transport = await pipes.open(backend, high_water=400 * KIB)
    transport.write(bytes(300 * KIB))
    assert not transport.congested
    transport.write(bytes(300 * KIB))
    assert transport.congested
    await in_thread(read_exactly, pipes.far_in, 200 * KIB)
    assert transport.congested, "between the marks it stays congested"
    await in_thread(read_exactly, pipes.far_in, 400 * KIB)
    await pipes.ear.until(lambda: pipes.ear.drains == 1)
    assert not transport.congested
    transport.write(bytes(700 * KIB))
    assert transport.congested
    await in_thread(read_exactly, pipes.far_in, 700 * KIB)
    await pipes.ear.until(lambda: pipes.ear.drains == 2)
    transport.close()


async def test_drained_may_write_again(pipes: Pipes, backend: Backend) -> None:
    transport = await pipes.open(backend, high_water=64 * KIB)
    first, second = b"1" * MIB, b"2" * MIB
    pipes.ear.drained = lambda: transport.write(second) if transport.unsent < MIB else None  # type: ignore[method-assign]
    transport.write(first)
    reading = asyncio.create_task(in_thread(read_exactly, pipes.far_in, 2 * MIB))
    assert await reading == first + second
    transport.close()


async def test_one_piece_of_50_mib(pipes: Pipes, backend: Backend) -> None:
    transport = await pipes.open(backend)
    data = numbered(50 * MIB)
    transport.write(data)
    assert await in_thread(read_exactly, pipes.far_in, len(data)) == data
    transport.close()


async def test_a_reader_that_is_gone(pipes: Pipes, backend: Backend) -> None:
    transport = await pipes.open(backend)
    pipes.close_far_in()
    for _ in range(100):
        transport.write(b"x" * KIB)
        async with asyncio.timeout(PATIENCE):
            await transport.flushed()
    assert (transport.unsent, transport.congested) == (0, False)
    os.write(pipes.far_out, b"still heard")
    await pipes.ear.until(lambda: pipes.ear.data == b"still heard")
    transport.close()


async def test_a_reader_that_goes_away_while_we_wait_for_it(pipes: Pipes, backend: Backend) -> None:
    transport = await pipes.open(backend, high_water=64 * KIB)
    transport.write(bytes(MIB))
    assert transport.congested
    waiting = asyncio.create_task(transport.flushed())
    pipes.close_far_in()
    async with asyncio.timeout(PATIENCE):
        await waiting
    await pipes.ear.until(lambda: pipes.ear.drains == 1)
    assert (transport.unsent, transport.congested) == (0, False)
    transport.write(b"into the void")
    transport.close()


async def test_close_never_waits_and_silences(pipes: Pipes, backend: Backend) -> None:
    transport = await pipes.open(backend, high_water=64 * KIB)
    transport.write(bytes(MIB))
    waiting = asyncio.create_task(transport.flushed())
    await asyncio.sleep(0)
    began = time.monotonic()
    transport.close()
    transport.close()
    transport.write(b"x")
    transport.close_write()
    assert time.monotonic() - began < 5
    async with asyncio.timeout(PATIENCE):
        await waiting
        await transport.flushed()
    # The other side learns of it: what it still writes breaks, and its reading ends.
    await in_thread(read_to_end, pipes.far_in)
    await in_thread(_write_until_it_breaks, pipes.far_out)
    await asyncio.sleep(0)
    assert (pipes.ear.data, pipes.ear.ends, pipes.ear.drains) == (b"", 0, 0)


def _write_until_it_breaks(fd: int) -> None:
    with pytest.raises(BrokenPipeError):
        while True:
            os.write(fd, b"x")


async def test_pausing_holds_the_other_side_back(pipes: Pipes, backend: Backend) -> None:
    transport = await pipes.open(backend)
    transport.pause_reading()
    transport.pause_reading()
    data = numbered(4 * MIB)
    writing = asyncio.create_task(in_thread(pipes.write_all_and_close, data))
    done, _ = await asyncio.wait([writing], timeout=0.5)
    assert not done, "a paused transport must not take all"
    assert len(pipes.ear.data) == 0
    transport.resume_reading()
    transport.resume_reading()
    await pipes.ear.until(lambda: pipes.ear.ends == 1)
    assert pipes.ear.data == data
    await writing
    transport.close()


async def test_pausing_from_within_a_read_and_again(pipes: Pipes, backend: Backend) -> None:
    transport = await pipes.open(backend)
    pipes.ear.on_data = lambda _: transport.pause_reading()
    data = numbered(MIB)
    writing = asyncio.create_task(in_thread(pipes.write_all_and_close, data))
    while not pipes.ear.ends:
        seen = len(pipes.ear.data)
        await pipes.ear.until(lambda had=seen: len(pipes.ear.data) > had or pipes.ear.ends == 1)
        transport.resume_reading()
    assert pipes.ear.data == data
    await writing
    transport.close()


async def test_a_fast_writer_is_slowed_down_not_buffered(pipes: Pipes, backend: Backend) -> None:
    """While the loop is busy elsewhere, only a bounded amount is read ahead."""
    transport = await pipes.open(backend)
    os.set_blocking(pipes.far_out, False)
    taken = 0
    deadline = time.monotonic() + 0.5
    while time.monotonic() < deadline:
        with suppress(BlockingIOError):
            taken += os.write(pipes.far_out, bytes(64 * KIB))
    assert taken <= 512 * KIB
    await pipes.ear.until(lambda: len(pipes.ear.data) == taken)
    transport.close()


async def test_a_receiver_that_raises_gets_the_next_bytes_all_the_same(
    pipes: Pipes, backend: Backend
) -> None:
    faults: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: faults.append(context["exception"]))
    transport = await pipes.open(backend)
    pipes.ear.on_data = lambda data: 1 // 0 if data == b"bad" else None
    os.write(pipes.far_out, b"bad")
    await pipes.ear.until(lambda: pipes.ear.data == b"bad")
    os.write(pipes.far_out, b"good")
    await pipes.ear.until(lambda: pipes.ear.data == b"badgood")
    pipes.close_far_out()
    await pipes.ear.until(lambda: pipes.ear.ends == 1)
    assert [type(fault) for fault in faults] == [ZeroDivisionError]
    transport.close()


async def test_only_one_direction(backend: Backend) -> None:
    read_fd, write_fd = os.pipe()
    ear = Ear()
    source = await open_fds(None, write_fd, Ear(), backend=backend)
    sink = await open_fds(read_fd, None, ear, backend=backend)
    sink.write(b"goes nowhere")
    source.write(b"x" * MIB)
    source.close_write()
    await ear.until(lambda: ear.ends == 1)
    assert len(ear.data) == MIB
    source.close()
    sink.close()


async def test_regular_files_work_whatever_is_asked_for(tmp_path: Path, backend: Backend) -> None:
    source, target = tmp_path / "in", tmp_path / "out"
    source.write_bytes(numbered(MIB))
    ear = Ear()
    read_fd = os.open(source, os.O_RDONLY)
    write_fd = os.open(target, os.O_WRONLY | os.O_CREAT)
    transport = await open_fds(read_fd, write_fd, ear, backend=backend)
    await ear.until(lambda: ear.ends == 1)
    assert ear.data == source.read_bytes()
    transport.write(bytes(ear.data))
    async with asyncio.timeout(PATIENCE):
        await transport.flushed()
    transport.close()
    assert target.read_bytes() == source.read_bytes()


async def test_dev_null(backend: Backend) -> None:
    ear = Ear()
    read_fd, write_fd = os.open(os.devnull, os.O_RDONLY), os.open(os.devnull, os.O_WRONLY)
    transport = await open_fds(read_fd, write_fd, ear, backend=backend)
    await ear.until(lambda: ear.ends == 1)
    transport.write(b"x" * MIB)
    async with asyncio.timeout(PATIENCE):
        await transport.flushed()
    transport.close()


async def test_a_terminal_keeps_its_mode(backend: Backend) -> None:
    """O_NONBLOCK on a terminal would hold for the user's shell too."""
    master, slave = os.openpty()
    ear = Ear()
    transport = await open_fds(slave, None, ear, backend=backend)
    assert os.get_blocking(slave)
    os.write(master, b"typed\n")
    await ear.until(lambda: ear.data == b"typed\n")
    os.close(master)
    await ear.until(lambda: ear.ends == 1)
    transport.close()


async def test_a_pipe_gets_its_mode_back(pipes: Pipes, backend: Backend) -> None:
    shared = os.dup(pipes.write_fd)
    transport = await pipes.open(backend)
    transport.close()
    assert os.get_blocking(shared)
    os.close(shared)


class TestChoice:
    async def test_by_the_environment(self, pipes: Pipes, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("ACP_BRIDGE_IO", "threads")
        transport = await open_fds(pipes.read_fd, pipes.write_fd, pipes.ear)
        assert isinstance(transport, ThreadTransport)
        transport.close()

    async def test_pipes_are_watched_by_the_loop_otherwise(
        self, pipes: Pipes, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("ACP_BRIDGE_IO", raising=False)
        transport = await open_fds(pipes.read_fd, pipes.write_fd, pipes.ear)
        assert not isinstance(transport, ThreadTransport)
        transport.close()

    async def test_an_unknown_one_is_named(self, pipes: Pipes, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("ACP_BRIDGE_IO", "uring")
        with pytest.raises(ValueError, match=r"ACP_BRIDGE_IO is 'uring'.*asyncio or threads"):
            await open_fds(pipes.read_fd, pipes.write_fd, pipes.ear)

    async def test_a_descriptor_that_is_not_open(self, pipes: Pipes, backend: Backend) -> None:
        pipes.close_far()
        with pytest.raises(OSError, match="Bad file descriptor"):
            await open_fds(pipes.far_out, None, pipes.ear, backend=backend)


def test_the_loop_may_end_before_the_threads(no_thread_dies: None) -> None:
    """Nobody closed the transport, the loop is gone, data still comes: the threads end quietly."""
    made: list[Pipes] = []

    async def leave_open() -> None:
        made.append(Pipes())
        await made[0].open("threads")

    asyncio.run(leave_open())
    reader = next(each for each in threading.enumerate() if each.name == f"jsonrpc-fd-{made[0].read_fd}")
    os.write(made[0].far_out, b"late")
    reader.join(PATIENCE)
    assert not reader.is_alive()
    made[0].close_far()


class Station:
    """A peer on a transport."""

    def __init__(self) -> None:
        self.handler = Recorder()
        self.transport: Transport | None = None
        self.peer = Peer(Ndjson(), self._write, self.handler)

    def _write(self, data: bytes) -> None:
        assert self.transport is not None
        self.transport.write(data)

    def data_received(self, data: bytes) -> None:
        self.peer.receive(data)

    def eof_received(self) -> None:
        self.peer.eof("the other side is gone")

    def drained(self) -> None:
        pass


async def test_two_peers_over_pipes(pipes: Pipes, backend: Backend) -> None:
    near, far = Station(), Station()
    near.transport = await open_fds(pipes.read_fd, pipes.write_fd, near, backend=backend)
    far.transport = await open_fds(os.dup(pipes.far_in), os.dup(pipes.far_out), far, backend=backend)
    pipes.close_far()
    far.handler.on_call = lambda call: call.answer(call.params) and None

    text = "é" * MIB
    async with asyncio.timeout(PATIENCE):
        answers = await asyncio.gather(*(near.peer.call("echo", [number, text]) for number in range(8)))
    assert answers == [[number, text] for number in range(8)]

    far.handler.on_call = None
    pending = asyncio.create_task(near.peer.call("never answered"))
    await asyncio.sleep(0)
    far.transport.close_write()
    with pytest.raises(ConnectionClosed, match="the other side is gone"):
        async with asyncio.timeout(PATIENCE):
            await pending
    near.transport.close()
    far.transport.close()


async def test_a_line_of_50_mib_and_the_next(pipes: Pipes, backend: Backend) -> None:
    station = Station()
    station.transport = await open_fds(pipes.read_fd, pipes.write_fd, station, backend=backend)
    text = "x" * (50 * MIB)
    stream = line(notification("big", text)) + line(notification("next"))
    both = asyncio.Event()
    station.handler.on_note = lambda method: both.set() if method == "next" else None
    await in_thread(pipes.write_all_and_close, stream)
    async with asyncio.timeout(PATIENCE):
        await both.wait()
    assert [(event[1], len(event[2])) for event in station.handler.events] == [("big", 50 * MIB), ("next", 0)]
    station.transport.close()
