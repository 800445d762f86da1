"""A small scripted ACP v1 agent: `python scripted.py SCENARIO`, SCENARIO being JSON or `@file`. Stdlib only.

Scenario (all optional):
  initialize     fields that replace those of the initialize result; {"error": {...}}; or "hang"
  auth           log-in method ids; session/new answers -32000 until one of them was used
  authAtPrompt   true: with `auth`, it is session/prompt that answers -32000
  newSession     fields added to the session/new result; or {"error": {...}}
  atStart        steps before anything is read; `newSessionSteps` steps right after the session/new answer
  prompts        a list of turns, each a list of steps; the last one serves every further prompt
  ignoreTerm     true: SIGTERM is ignored; `child` true: a `sleep` child that ignores SIGTERM is started
  pids           a file into which the ids of the agent and its child are written, one a line

Steps (the turn ends with end_turn when they run out):
  {"text": s} {"thought": s} {"update": {...}}   session/update notifications
  {"raw": s} {"stderr": s} {"sleep": seconds}    a literal line on stdout, a line on stderr, a pause
  {"permission": {...}, "then": {optionId: steps, "cancelled": steps}}
  {"call": method, "params": {...}, "then": steps, "fail": steps}   any request to the client
  {"write": path, "content": s}                  write a file oneself
  {"wait": "cancel" | "forever"}                 until session/cancel, or deaf to it
  {"stop": reason} {"error": {code, message}} {"exit": status} {"kill": true}
`$SESSION` and `$CWD` in strings are replaced; `$ANSWER` is the result or error of the last call, as JSON.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

Json = dict[str, Any]
CHILD = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"


class TurnEnd(Exception):
    """The turn is over: `answer` is what session/prompt is answered with."""

    def __init__(self, answer: Json) -> None:
        super().__init__()
        self.answer = answer


class Agent:
    def __init__(self, scenario: Json) -> None:
        self.scenario = scenario
        self.inbox: queue.Queue[Json | None] = queue.Queue()
        self.later: list[Json] = []
        self.session = ""
        self.sessions = 0
        self.cwd = ""
        self.answer = ""
        self.turns = 0
        self.calls = 0
        self.logged_in = False

    def send(self, message: Json) -> None:
        self.line(json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False))

    def line(self, text: str) -> None:
        sys.stdout.buffer.write(text.encode("utf-8", "surrogatepass") + b"\n")
        sys.stdout.buffer.flush()

    def update(self, update: Json) -> None:
        self.send({"method": "session/update", "params": {"sessionId": self.session, "update": update}})

    def read_stdin(self) -> None:
        for line in sys.stdin.buffer:
            self.inbox.put(json.loads(line))
        self.inbox.put(None)

    def next_message(self) -> Json:
        message = self.inbox.get()
        if message is None:
            sys.exit(0)
        return message

    def run(self) -> None:
        threading.Thread(target=self.read_stdin, daemon=True).start()
        self.steps(self.scenario.get("atStart", []))
        while True:
            message = self.later.pop(0) if self.later else self.next_message()
            if "id" in message and "method" in message:
                self.request(message)

    def request(self, message: Json) -> None:
        handler = {
            "initialize": self.initialize,
            "authenticate": self.authenticate,
            "session/new": self.new_session,
            "session/prompt": self.prompt,
        }.get(message["method"])
        if handler is None:
            answer: Json | None = {"error": {"code": -32601, "message": "no such method"}}
        else:
            answer = handler(message.get("params") or {})
        if answer is None:
            return
        self.send({"id": message["id"], **answer})
        if message["method"] == "session/new" and "result" in answer:
            self.steps(self.scenario.get("newSessionSteps", []))

    def initialize(self, params: Json) -> Json | None:
        custom = self.scenario.get("initialize", {})
        if custom == "hang":
            return None
        if "error" in custom:
            return {"error": custom["error"]}
        methods = [{"id": method, "name": method.title()} for method in self.scenario.get("auth", [])]
        result = {
            "protocolVersion": 1,
            "agentCapabilities": {"promptCapabilities": {}},
            "agentInfo": {"name": "scripted", "version": "1.0"},
            "authMethods": methods,
        }
        return {"result": {**result, **custom}}

    def authenticate(self, params: Json) -> Json:
        if params.get("methodId") not in self.scenario.get("auth", []):
            return {"error": {"code": -32602, "message": f"unknown method {params.get('methodId')}"}}
        self.logged_in = True
        return {"result": {}}

    def locked(self) -> bool:
        return bool(self.scenario.get("auth")) and not self.logged_in

    def new_session(self, params: Json) -> Json:
        custom = self.scenario.get("newSession", {})
        if "error" in custom:
            return {"error": custom["error"]}
        if self.locked() and not self.scenario.get("authAtPrompt"):
            return {"error": {"code": -32000, "message": "Authentication required"}}
        self.sessions += 1
        self.session, self.cwd = f"native-{os.getpid()}-{self.sessions}", params["cwd"]
        return {"result": {"sessionId": self.session, **custom}}

    def prompt(self, params: Json) -> Json:
        if self.locked():
            return {"error": {"code": -32000, "message": "Authentication required"}}
        self.session = params["sessionId"]
        turns = self.scenario.get("prompts") or [[]]
        steps = turns[min(self.turns, len(turns) - 1)]
        self.turns += 1
        try:
            self.steps(steps)
        except TurnEnd as end:
            return end.answer
        return {"result": {"stopReason": "end_turn"}}

    def fill(self, value: Any) -> Any:
        if isinstance(value, str):
            for name, text in (("$SESSION", self.session), ("$CWD", self.cwd), ("$ANSWER", self.answer)):
                value = value.replace(name, text)
            return value
        if isinstance(value, list):
            return [self.fill(item) for item in value]
        if isinstance(value, dict):
            return {key: self.fill(item) for key, item in value.items()}
        return value

    def steps(self, steps: list[Json]) -> None:
        for step in steps:
            own = {key: value for key, value in step.items() if key not in ("then", "fail")}
            self.step(self.fill(own), step.get("then"), step.get("fail"))

    def step(self, step: Json, then: Any, fail: Any) -> None:
        if "text" in step:
            self.update(_chunk("agent_message_chunk", step["text"]))
        elif "thought" in step:
            self.update(_chunk("agent_thought_chunk", step["thought"]))
        elif "update" in step:
            self.update(step["update"])
        elif "raw" in step:
            self.line(step["raw"])
        elif "stderr" in step:
            print(step["stderr"], file=sys.stderr, flush=True)
        elif "sleep" in step:
            time.sleep(step["sleep"])
        elif "write" in step:
            Path(step["write"]).write_text(step["content"], encoding="utf-8")
        elif "permission" in step:
            self.permission(step["permission"], then or {})
        elif "call" in step:
            result = self.call(step["call"], step.get("params", {}))
            self.steps((fail if "error" in result else then) or [])
        elif "wait" in step:
            self.wait(step["wait"])
        elif "stop" in step:
            raise TurnEnd({"result": {"stopReason": step["stop"]}})
        elif "error" in step:
            raise TurnEnd({"error": step["error"]})
        elif "exit" in step:
            os._exit(step["exit"])
        elif "kill" in step:
            os.kill(os.getpid(), signal.SIGKILL)
        else:
            raise SystemExit(f"unknown step {step}")

    def permission(self, params: Json, then: Json) -> None:
        answer = self.call("session/request_permission", {"sessionId": self.session, **params})
        outcome = answer.get("result", {}).get("outcome", {})
        self.steps(then.get(outcome.get("optionId") or outcome.get("outcome"), []))

    def call(self, method: str, params: Json) -> Json:
        self.calls += 1
        call_id = f"call-{self.calls}"
        self.send({"id": call_id, "method": method, "params": params})
        while True:
            message = self.next_message()
            if message.get("id") == call_id and "method" not in message:
                self.answer = json.dumps(message.get("result", message.get("error")))
                return message
            self.later.append(message)

    def wait(self, what: str) -> None:
        waiting = [message for message in self.later if message.get("method") == "session/cancel"]
        self.later = [message for message in self.later if message not in waiting]
        while what == "forever" or not waiting:
            message = self.next_message()
            if message.get("method") == "session/cancel":
                waiting.append(message)
            else:
                self.later.append(message)
        raise TurnEnd({"result": {"stopReason": "cancelled"}})


def _chunk(kind: str, text: str) -> Json:
    return {"sessionUpdate": kind, "content": {"type": "text", "text": text}}


def main() -> None:
    source = sys.argv[1]
    scenario = json.loads(Path(source[1:]).read_text(encoding="utf-8") if source.startswith("@") else source)
    if scenario.get("ignoreTerm"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    pids = [os.getpid()]
    if scenario.get("child"):
        pids.append(subprocess.Popen([sys.executable, "-c", CHILD], stdin=subprocess.DEVNULL).pid)
    if "pids" in scenario:
        Path(scenario["pids"]).write_text("".join(f"{pid}\n" for pid in pids), encoding="utf-8")
    Agent(scenario).run()


if __name__ == "__main__":
    main()
