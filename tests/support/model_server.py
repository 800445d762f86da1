"""A model server for real agents, on 127.0.0.1, that answers from a script instead of a model.

Stateless: the scenario is the last `SCN:<name>` in what the user said, the step is how many tool results came
after it, `CWD:<path>` (also in the user's text) replaces `@CWD@` in the script. model_script.json holds
`{scenarios: {name: [step, …]}}`; a step is `{think?, text?, delay?, repeat?, big?, tools?, status?}`, a tool
`{kind, args}`. Streams and whole answers, in all four wires of model_wires.py.
"""

from __future__ import annotations

import contextlib
import gzip
import itertools
import json
import re
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from support.model_tools import Json, choose
from support.model_wires import Answer, ChatCompletions, Gemini, Messages, Responses, Said, Wire

SCRIPT = Path(__file__).with_name("model_script.json")
MODELS = ("fake-model", "fake-model-2")
GEMINI_SIDE_ANSWER = {
    "reasoning": "fake",
    "next_speaker": "user",
    "model_choice": "flash",
    "complexity_score": 1,
}


@dataclass(frozen=True)
class Received:
    """One request an agent made of its model."""

    path: str
    body: Json
    scenario: str
    step: int


@dataclass
class ModelServer:
    """`with ModelServer() as server:` serves at `server.url` until the block ends."""

    script: Path = SCRIPT
    requests: list[Received] = field(default_factory=list)
    _numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    def __enter__(self) -> ModelServer:
        self._http = _Http(self)
        self._thread = threading.Thread(target=self._http.serve_forever, name="model server", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}"

    def answer(self, path: str, body: Json, wire: Wire) -> Answer:
        """What the script says to this request. Those without tools are the agent's own (titles)."""
        said, offered = wire.said(body), wire.offered(body)
        name, at = scenario(said)
        number = next(self._numbers)
        self.requests.append(Received(path, body, name if offered else "", at))
        model = str(body.get("model", "fake-model"))
        if not offered:
            return Answer(number, model, {"text": ["Fake title"]})
        scenarios: dict[str, list[Json]] = json.loads(self.script.read_text())["scenarios"]
        steps = scenarios.get(name) or scenarios["default"]
        step = _with_cwd(steps[min(at, len(steps) - 1)], said)
        return Answer(number, model, step, [choose(tool, offered) for tool in step.get("tools", [])])


def scenario(said: Said) -> tuple[str, int]:
    """The scenario asked for last, and how many tool results followed it."""
    name, step = "default", 0
    for text in said:
        if text is None:
            step += 1
        elif named := re.findall(r"SCN:([a-z0-9_]+)", text):
            name, step = named[-1], 0
    return name, step


def _with_cwd(step: Json, said: Said) -> Json:
    folders = re.findall(r'CWD:(\S+?)[\s"<]', "".join(f"{text} " for text in said if text))

    def replace(value: Any) -> Any:
        if isinstance(value, str):
            return value.replace("@CWD@", folders[-1] if folders else ".")
        if isinstance(value, list):
            return [replace(item) for item in value]
        return {key: replace(item) for key, item in value.items()} if isinstance(value, dict) else value

    replaced: Json = replace(step)
    return replaced


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, model: ModelServer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.model = model

    def handle_error(self, request: object, client_address: object) -> None:
        """An agent that hangs up in mid-answer is expected: cancelling does that."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Http

    def log_message(self, format: str, *args: object) -> None:
        """Silent: `requests` is the log."""

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def do_GET(self) -> None:
        if not self.path.partition("?")[0].endswith("/models"):
            self._no_such_path()
            return
        common = {"object": "model", "created": 1, "owned_by": "fake", "type": "model"}
        dated = {**common, "created_at": "2025-01-01T00:00:00Z"}
        data = [{"id": name, "display_name": name, **dated} for name in MODELS]
        ends = {"has_more": False, "first_id": MODELS[0], "last_id": MODELS[-1]}
        self._json({"object": "list", "data": data, "models": [], **ends})

    def do_POST(self) -> None:
        path = self.path.partition("?")[0]
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self._post(path, self._body())

    def _post(self, path: str, body: Json) -> None:
        if path.endswith("/chat/completions"):
            self._answer(ChatCompletions(), body, streamed=bool(body.get("stream")))
        elif path.endswith("/responses"):
            self._answer(Responses(), body, streamed=bool(body.get("stream")))
        elif path.endswith("/messages/count_tokens"):
            self._json({"input_tokens": 100})
        elif path.endswith("/messages"):
            self._answer(Messages(), body, streamed=bool(body.get("stream")))
        elif path.endswith(":countTokens"):
            self._json({"totalTokens": 100})
        elif path.endswith((":generateContent", ":streamGenerateContent")):
            self._gemini(body, streamed=path.endswith(":streamGenerateContent"))
        else:
            self._no_such_path()

    def _gemini(self, body: Json, *, streamed: bool) -> None:
        """Gemini asks its model side questions whose answer must be JSON."""
        wire = Gemini()
        wants_json = (body.get("generationConfig") or {}).get("responseMimeType") == "application/json"
        if wants_json or not (wire.offered(body) or streamed):
            self._json(wire.candidate(0, [{"text": json.dumps(GEMINI_SIDE_ANSWER)}], "STOP"))
            return
        self._answer(wire, body, streamed=streamed)

    def _answer(self, wire: Wire, body: Json, *, streamed: bool) -> None:
        answer = self.server.model.answer(self.path, body, wire)
        if status := answer.step.get("status"):
            error = {"type": "api_error", "message": "fake failure", "code": status}
            self._json({"type": "error", "error": error}, status)
        elif not streamed:
            self._json(wire.whole(answer))
        else:
            self._events(wire, answer)

    def _events(self, wire: Wire, answer: Answer) -> None:
        self.close_connection = True
        self.send_response(200)
        for header, value in (("content-type", "text/event-stream"), ("cache-control", "no-cache")):
            self.send_header(header, value)
        self.send_header("connection", "close")
        self.end_headers()
        for name, data in wire.stream(answer):
            line = data if isinstance(data, str) else json.dumps(data)
            head = f"event: {name}\n" if name else ""
            self.wfile.write(f"{head}data: {line}\n\n".encode())
            self.wfile.flush()

    def _body(self) -> Json:
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            raw = b"".join(iter(self._chunk, b""))
        else:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.headers.get("content-encoding") == "gzip":
            raw = gzip.decompress(raw)
        body: Json = json.loads(raw or b"{}")
        return body

    def _chunk(self) -> bytes:
        size = int(self.rfile.readline().split(b";")[0], 16)
        data = self.rfile.read(size)
        self.rfile.readline()
        return data

    def _json(self, value: Json, status: int = 200) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _no_such_path(self) -> None:
        self._json({"error": {"message": f"no such path {self.path}", "type": "not_found_error"}}, 404)
