"""The four ways in which agents talk to their model, without I/O.

A `Wire` reads a request body (what was said, which tools are offered) and writes an answer, streamed or
whole: OpenAI chat completions, OpenAI responses, Anthropic messages, Gemini generateContent.
"""

from __future__ import annotations

import itertools
import json
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from support.model_tools import Call, Json, Tool

Said = list[str | None]
"""What the conversation holds so far: a user's text, or None for a tool's result."""
Sse = tuple[str | None, Json | str]


@dataclass(frozen=True)
class Answer:
    """One scripted model answer. `number` makes ids unique within a server."""

    number: int
    model: str
    step: Json
    calls: list[Call] = field(default_factory=list)

    @property
    def thoughts(self) -> list[str]:
        return list(self.step.get("think", []))

    @property
    def text(self) -> str:
        return "".join(self.step.get("text", []))

    def pieces(self) -> Iterator[str]:
        """The text as it streams. `repeat` says it again with a changing tail, as agents stop a model that
        repeats itself; `big` makes each piece that many words."""
        chance = random.Random(7)
        for turn in range(self.step.get("repeat", 1)):
            for text in self.step.get("text", []):
                if big := self.step.get("big"):
                    yield " ".join(f"{chance.getrandbits(32):08x}" for _ in range(big))
                elif "repeat" in self.step:
                    yield f"{text}{turn}-{chance.getrandbits(32):08x} "
                else:
                    yield text
                time.sleep(self.step.get("delay", 0.02))


class Wire(Protocol):
    def said(self, body: Json) -> Said: ...
    def offered(self, body: Json) -> dict[str, Tool]: ...
    def stream(self, answer: Answer) -> Iterator[Sse]:
        """Events of the streamed answer, `(event name, data)`."""
        ...

    def whole(self, answer: Answer) -> Json: ...


def text_of(content: Any) -> str:
    """All text in a message's content, whatever its nesting."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        return text_of(content.get("text") or content.get("content") or content.get("parts"))
    return " ".join(text_of(part) for part in content or [])


def halves(text: str) -> tuple[str, str]:
    return text[: len(text) // 2], text[len(text) // 2 :]


class ChatCompletions:
    def said(self, body: Json) -> Said:
        messages = [m for m in body.get("messages", []) if m["role"] in ("user", "tool")]
        return [text_of(m.get("content")) if m["role"] == "user" else None for m in messages]

    def offered(self, body: Json) -> dict[str, Tool]:
        functions = [tool["function"] for tool in body.get("tools") or [] if tool.get("function")]
        return {function["name"]: Tool(function.get("parameters") or {}) for function in functions}

    def _calls(self, answer: Answer) -> list[Json]:
        return [
            {
                "index": index,
                "id": f"call_{answer.number}_{index}",
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
            }
            for index, call in enumerate(answer.calls)
        ]

    def _usage(self, answer: Answer) -> Json:
        prompt = 100 + answer.number
        return {"prompt_tokens": prompt, "completion_tokens": 20, "total_tokens": prompt + 20}

    def whole(self, answer: Answer) -> Json:
        calls = self._calls(answer)
        message = {"role": "assistant", "content": answer.text, **({"tool_calls": calls} if calls else {})}
        choice = {"index": 0, "finish_reason": "tool_calls" if calls else "stop", "message": message}
        return {
            "id": f"chatcmpl-{answer.number}",
            "object": "chat.completion",
            "created": 1,
            "model": answer.model,
            "usage": self._usage(answer),
            "choices": [choice],
        }

    def stream(self, answer: Answer) -> Iterator[Sse]:
        head = {
            "id": f"chatcmpl-{answer.number}",
            "object": "chat.completion.chunk",
            "created": int(time.time()),
            "model": answer.model,
        }

        def delta(change: Json, finish: str | None = None) -> Sse:
            return None, {**head, "choices": [{"index": 0, "delta": change, "finish_reason": finish}]}

        yield delta({"role": "assistant", "content": ""})
        for thought in answer.thoughts:
            yield delta({"reasoning_content": thought})
        for piece in answer.pieces():
            yield delta({"content": piece})
        calls = self._calls(answer)
        for call in calls:
            first, second = halves(call["function"]["arguments"])
            yield delta({"tool_calls": [{**call, "function": {**call["function"], "arguments": first}}]})
            yield delta({"tool_calls": [{"index": call["index"], "function": {"arguments": second}}]})
        yield delta({}, "tool_calls" if calls else "stop")
        yield None, {**head, "choices": [], "usage": self._usage(answer)}
        yield None, "[DONE]"


class Responses:
    EMPTY: ClassVar[dict[str, Json]] = {
        "reasoning": {"summary": []},
        "message": {"content": [], "status": "in_progress"},
        "function_call": {"arguments": ""},
        "custom_tool_call": {"input": ""},
    }
    OUTPUTS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")

    def said(self, body: Json) -> Said:
        """Results of calls made at once count as one."""
        items = body.get("input", [])
        if isinstance(items, str):
            return [items]
        said: Said = []
        before = None
        for item in items:
            kind = item.get("type", "message")
            if kind == "message" and item.get("role") == "user":
                said.append(text_of(item.get("content")))
            elif kind in self.OUTPUTS and kind != before:
                said.append(None)
            before = kind
        return said

    def offered(self, body: Json) -> dict[str, Tool]:
        offered: dict[str, Tool] = {}
        for tool in body.get("tools") or []:
            if tool.get("type") == "function":
                offered[tool["name"]] = Tool(tool.get("parameters") or {})
            elif tool.get("type") == "custom":
                offered[tool["name"]] = Tool(custom=True)
            elif tool.get("type") == "namespace":
                for inner in tool.get("tools", []):
                    offered[tool["name"] + inner.get("name", "")] = Tool(inner.get("parameters") or {})
        return offered

    def whole(self, answer: Answer) -> Json:
        final: Json = {}
        for _, event in self.stream(answer):
            assert isinstance(event, dict)
            final = event
        return dict(final["response"])

    def stream(self, answer: Answer) -> Iterator[Sse]:
        count = itertools.count()
        response: Json = {
            "id": f"resp_{answer.number}",
            "object": "response",
            "created_at": int(time.time()),
            "status": "in_progress",
            "model": answer.model,
            "output": [],
        }

        def event(kind: str, **values: Any) -> Sse:
            return kind, {"type": kind, "sequence_number": next(count), **values}

        yield event("response.created", response=response)
        output: list[Json] = []
        for item, inside in (*self._reasoning(answer), *self._message(answer), *self._calls(answer)):
            at = len(output)
            yield event(
                "response.output_item.added", output_index=at, item={**item, **self.EMPTY[item["type"]]}
            )
            for kind, values in inside:
                yield event(f"response.{kind}", item_id=item["id"], output_index=at, **values)
            yield event("response.output_item.done", output_index=at, item=item)
            output.append(item)
        prompt = 100 + answer.number
        usage = {
            "input_tokens": prompt,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 20,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": prompt + 20,
        }
        done = {**response, "status": "completed", "output": output, "usage": usage}
        yield event("response.completed", response=done)

    def _reasoning(self, answer: Answer) -> Iterator[tuple[Json, Iterator[tuple[str, Json]]]]:
        if not answer.thoughts:
            return
        whole = {"type": "summary_text", "text": "".join(answer.thoughts)}

        def inside() -> Iterator[tuple[str, Json]]:
            part = {"type": "summary_text", "text": ""}
            yield "reasoning_summary_part.added", {"summary_index": 0, "part": part}
            for thought in answer.thoughts:
                yield "reasoning_summary_text.delta", {"summary_index": 0, "delta": thought}
            yield "reasoning_summary_text.done", {"summary_index": 0, "text": whole["text"]}

        yield {"type": "reasoning", "id": f"rs_{answer.number}", "summary": [whole]}, inside()

    def _message(self, answer: Answer) -> Iterator[tuple[Json, Iterator[tuple[str, Json]]]]:
        if not answer.text:
            return
        content: list[Json] = []
        item = {
            "type": "message",
            "id": f"msg_{answer.number}",
            "role": "assistant",
            "status": "completed",
            "content": content,
        }

        def inside() -> Iterator[tuple[str, Json]]:
            empty = {"type": "output_text", "text": "", "annotations": []}
            yield "content_part.added", {"content_index": 0, "part": empty}
            text = ""
            for piece in answer.pieces():
                text += piece
                yield "output_text.delta", {"content_index": 0, "delta": piece}
            content.append({**empty, "text": text})
            yield "output_text.done", {"content_index": 0, "text": text}

        yield item, inside()

    def _calls(self, answer: Answer) -> Iterator[tuple[Json, Iterator[tuple[str, Json]]]]:
        for index, call in enumerate(answer.calls):
            mark = f"{answer.number}_{index}"
            head = {"call_id": f"call_{mark}", "name": call.name, "status": "completed"}
            if isinstance(call.arguments, str):
                text, word, done = call.arguments, "custom_tool_call_input", {"input": call.arguments}
                item = {"type": "custom_tool_call", "id": f"ctc_{mark}", **head, "input": text}
            else:
                text, word = json.dumps(call.arguments), "function_call_arguments"
                done = {"arguments": text, "name": call.name}
                item = {"type": "function_call", "id": f"fc_{mark}", **head, "arguments": text}
            yield item, iter([(f"{word}.delta", {"delta": text}), (f"{word}.done", done)])


class Messages:
    def said(self, body: Json) -> Said:
        """Agents wrap reminders around a prompt: a user's message counts only if it names a scenario."""
        said: Said = []
        for message in body.get("messages", []):
            if message["role"] != "user":
                continue
            content = message.get("content")
            blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
            if any(block.get("type") == "tool_result" for block in blocks):
                said.append(None)
            text = " ".join(block.get("text", "") for block in blocks if block.get("type") == "text")
            if "SCN:" in text:
                said.append(text)
        return said

    def offered(self, body: Json) -> dict[str, Tool]:
        tools = [tool for tool in body.get("tools") or [] if tool.get("name")]
        return {tool["name"]: Tool(tool.get("input_schema") or {}) for tool in tools}

    def _message(self, answer: Answer, content: list[Json], stop: str | None, output: int) -> Json:
        usage = {
            "input_tokens": 100 + answer.number,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": output,
        }
        return {
            "id": f"msg_{answer.number}",
            "type": "message",
            "role": "assistant",
            "model": answer.model,
            "content": content,
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": usage,
        }

    def _calls(self, answer: Answer) -> list[Json]:
        return [
            {
                "type": "tool_use",
                "id": f"toolu_{answer.number}_{index}",
                "name": call.name,
                "input": call.arguments,
            }
            for index, call in enumerate(answer.calls)
        ]

    def whole(self, answer: Answer) -> Json:
        content: list[Json] = [{"type": "text", "text": answer.text}] if answer.text else []
        stop = "tool_use" if answer.calls else "end_turn"
        return self._message(answer, content + self._calls(answer), stop, 20)

    def stream(self, answer: Answer) -> Iterator[Sse]:
        def event(kind: str, **values: Any) -> Sse:
            return kind, {"type": kind, **values}

        yield event("message_start", message=self._message(answer, [], None, 1))
        blocks = itertools.count()
        if answer.thoughts:
            at = next(blocks)
            block = {"type": "thinking", "thinking": "", "signature": ""}
            yield event("content_block_start", index=at, content_block=block)
            for thought in answer.thoughts:
                delta = {"type": "thinking_delta", "thinking": thought}
                yield event("content_block_delta", index=at, delta=delta)
            signature = {"type": "signature_delta", "signature": "ZmFrZQ=="}
            yield event("content_block_delta", index=at, delta=signature)
            yield event("content_block_stop", index=at)
        if answer.text:
            at = next(blocks)
            yield event("content_block_start", index=at, content_block={"type": "text", "text": ""})
            for piece in answer.pieces():
                yield event("content_block_delta", index=at, delta={"type": "text_delta", "text": piece})
            yield event("content_block_stop", index=at)
        for call in self._calls(answer):
            at = next(blocks)
            yield event("content_block_start", index=at, content_block={**call, "input": {}})
            for part in halves(json.dumps(call["input"])):
                delta = {"type": "input_json_delta", "partial_json": part}
                yield event("content_block_delta", index=at, delta=delta)
            yield event("content_block_stop", index=at)
        stop = {"stop_reason": "tool_use" if answer.calls else "end_turn", "stop_sequence": None}
        yield event("message_delta", delta=stop, usage={"output_tokens": 20})
        yield event("message_stop")


class Gemini:
    def said(self, body: Json) -> Said:
        said: Said = []
        for message in body.get("contents", []):
            parts = message.get("parts", [])
            if message.get("role") == "function" or any("functionResponse" in part for part in parts):
                said.append(None)
            text = " ".join(part.get("text", "") for part in parts)
            if message.get("role", "user") == "user" and "SCN:" in text:
                said.append(text)
        return said

    def offered(self, body: Json) -> dict[str, Tool]:
        declared = [f for tool in body.get("tools") or [] for f in tool.get("functionDeclarations", [])]
        return {f["name"]: Tool(f.get("parametersJsonSchema") or f.get("parameters") or {}) for f in declared}

    def candidate(self, number: int, parts: list[Json], finish: str | None = None) -> Json:
        prompt = 100 + number
        usage = {"promptTokenCount": prompt, "candidatesTokenCount": 20, "totalTokenCount": prompt + 20}
        end = {"finishReason": finish} if finish else {}
        return {
            "candidates": [{"content": {"role": "model", "parts": parts}, "index": 0, **end}],
            "usageMetadata": usage,
            "modelVersion": "fake",
            "responseId": f"r{number}",
        }

    def _calls(self, answer: Answer) -> list[Json]:
        return [
            {"functionCall": {"name": call.name, "args": call.arguments, "id": f"g{answer.number}_{index}"}}
            for index, call in enumerate(answer.calls)
        ]

    def whole(self, answer: Answer) -> Json:
        return self.candidate(answer.number, [{"text": answer.text}, *self._calls(answer)], "STOP")

    def stream(self, answer: Answer) -> Iterator[Sse]:
        for thought in answer.thoughts:
            yield None, self.candidate(answer.number, [{"text": thought, "thought": True}])
        for piece in answer.pieces():
            yield None, self.candidate(answer.number, [{"text": piece}])
        yield None, self.candidate(answer.number, self._calls(answer) or [{"text": ""}], "STOP")
