"""An agent that plays the agent side of a recording. Stdlib only: `replay_agent.py SCRIPT REPORT`.

SCRIPT is a JSON list, played in order:
  {"expect": method, "id": recorded id}     wait for the client's next call, check its method
  {"expect_answer": id, "is": "result"|"error", "equals"?: value}     wait for the answer to our request
  {"send": message}                         say this; the id of an answer is mapped to the client's own
  {"tolerate": method}                      from here on one such call may come unexpected
Answers may come early (a cancel answers a permission at once); calls may not. A departure is written to
stderr and REPORT and ends the program with status 9. REPORT holds
{"done": bool, "at": step, "problem": str, "heard": [messages]}.
"""

import json
import os
import sys


class Departed(Exception):
    pass


class Player:
    def __init__(self, script):
        self.script = script
        self.ids = {}
        self.calls = []
        self.answers = {}
        self.heard = []
        self.tolerated = []
        self.at = 0

    def read(self):
        line = sys.stdin.buffer.readline()
        if not line:
            raise Departed("the client closed the connection")
        message = json.loads(line)
        self.heard.append(message)
        if "method" in message:
            self.calls.append(message)
        elif "id" in message:
            key = json.dumps(message["id"])
            if key in self.answers:
                raise Departed(f"the request {key} was answered twice")
            self.answers[key] = message
        else:
            raise Departed(f"neither a call nor an answer: {line[:200]!r}")

    def next_call(self):
        while not self.calls:
            self.read()
        call = self.calls.pop(0)
        if call["method"] in self.tolerated:
            self.tolerated.remove(call["method"])
            return None
        return call

    def expect(self, step):
        while (call := self.next_call()) is None:
            pass
        if call["method"] != step["expect"]:
            raise Departed(f"{call['method']} came where {step['expect']} was recorded")
        if "id" in step:
            self.ids[json.dumps(step["id"])] = call.get("id")
        session = call.get("params", {}).get("sessionId")
        if "session" in step and session != step["session"]:
            raise Departed(f"{call['method']} names session {session}, not {step['session']}")

    def expect_answer(self, step):
        key = json.dumps(step["expect_answer"])
        while key not in self.answers:
            self.read()
        answer = self.answers[key]
        if step["is"] not in answer:
            raise Departed(f"the recording answers {key} with a {step['is']}, this client with {answer}")
        if "equals" in step and answer["result"] != step["equals"]:
            raise Departed(f"the recording answers {key} with {step['equals']}, this client with {answer}")

    def send(self, step):
        message = step["send"]
        if "method" not in message:
            message = {**message, "id": self.ids[json.dumps(message["id"])]}
        sys.stdout.buffer.write(json.dumps(message).encode() + b"\n")
        sys.stdout.buffer.flush()

    def play(self):
        for at, step in enumerate(self.script):
            self.at = at
            if "expect" in step:
                self.expect(step)
            elif "expect_answer" in step:
                self.expect_answer(step)
            elif "tolerate" in step:
                self.tolerated.append(step["tolerate"])
            else:
                self.send(step)
        while self.calls:
            if (call := self.next_call()) is not None:
                raise Departed(f"{call['method']} came after the end of the recording")


def main():
    script, report = sys.argv[1:]
    with open(script, encoding="utf-8") as file:
        player = Player(json.load(file))
    problem = ""
    try:
        player.play()
    except Departed as departed:
        problem = f"step {player.at} {json.dumps(player.script[player.at])[:300]}: {departed}"
    with open(report + ".part", "w", encoding="utf-8") as file:
        json.dump({"done": not problem, "at": player.at, "problem": problem, "heard": player.heard}, file)
    os.replace(report + ".part", report)
    if problem:
        sys.stderr.write(f"replay departed at {problem}\n")
        sys.exit(9)
    while sys.stdin.buffer.readline():
        pass


main()
