"""Three protocols that assistants speak to a model: how a request is read, how an answer is said.

Messages (Anthropic), Responses (OpenAI) and generateContent (Google). Answers are as small as the
clients take them. Bodies are those of requests; a call names a tool that the request offers. Of
each the `system` says the texts that are not the person's, `users` those said as the user without
results of tools, `results` what tools answered so far, and `tools` the names of those offered.
"""

import json
from collections.abc import Iterator
from itertools import count

from fake_http import Answer, Body

TOKENS = 100  # what each request is said to have cost, and ten for the answer
_ids = count(1)


def strings(value: object) -> Iterator[str]:
    """All texts in a JSON value, in their order, keys left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from strings(each)


def offered(tool: str, names: list[str]) -> str:
    """The name under which a client offers a tool: each puts words of its own before ours."""
    ends = [name for name in names if name.endswith(f"_{tool}")]
    return tool if tool in names or not ends else ends[0]


def _event(value: Body, name: str = "") -> bytes:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(value)}\n\n".encode()


class Messages:
    """Anthropic's `/v1/messages`."""

    name = "messages"

    def serves(self, path: str) -> bool:
        return path.endswith("/v1/messages")

    def system(self, body: Body) -> list[str]:
        said = [m["content"] for m in body["messages"] if m["role"] == "system"]
        return [text for each in (body.get("system", ""), *said) for text in _texts(each)]

    def users(self, body: Body) -> list[str]:
        said = [m["content"] for m in body["messages"] if m["role"] == "user"]
        return [text for each in said for text in _texts(each)]

    def results(self, body: Body) -> list[str]:
        parts = [
            p for m in body["messages"] if isinstance(m["content"], list) for p in m["content"]
        ]
        given = [p.get("content", "") for p in parts if p.get("type") == "tool_result"]
        return ["\n".join(_texts(each)) for each in given]

    def tools(self, body: Body) -> list[str]:
        return [tool["name"] for tool in body.get("tools") or []]

    def whole(self, body: Body, answer: Answer) -> Body:
        calls = [
            {"type": "tool_use", "id": f"toolu_{next(_ids)}", "name": name, "input": arguments}
            for name, arguments in _calls(self, body, answer)
        ]
        text = [{"type": "text", "text": answer.text}] if answer.text or not calls else []
        return {
            "id": f"msg_{next(_ids)}", "type": "message", "role": "assistant",
            "model": body.get("model", ""), "content": [*text, *calls],
            "stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None,
            "usage": {"input_tokens": TOKENS, "output_tokens": 10},
        }  # fmt: skip

    def events(self, body: Body, answer: Answer) -> Iterator[bytes]:
        whole = self.whole(body, answer)
        start = {**whole, "content": [], "stop_reason": None}
        told: list[Body] = [{"type": "message_start", "message": start}]
        for index, part in enumerate(whole["content"]):
            begun, delta = _pieces(part)
            told += [
                {"type": "content_block_start", "index": index, "content_block": begun},
                {"type": "content_block_delta", "index": index, "delta": delta},
                {"type": "content_block_stop", "index": index},
            ]
        ended = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
        told.append({"type": "message_delta", "delta": ended, "usage": {"output_tokens": 10}})
        told.append({"type": "message_stop"})
        yield from (_event(each, each["type"]) for each in told)


def _pieces(part: Body) -> tuple[Body, Body]:
    """How a part begins in a stream, and the one piece that it consists of."""
    if part["type"] == "text":
        return {**part, "text": ""}, {"type": "text_delta", "text": part["text"]}
    said = json.dumps(part["input"])
    return {**part, "input": {}}, {"type": "input_json_delta", "partial_json": said}


class Responses:
    """OpenAI's `/v1/responses`, as Codex speaks it: tools of a server come in a namespace."""

    name = "responses"

    def serves(self, path: str) -> bool:
        return path.endswith("/responses")

    def system(self, body: Body) -> list[str]:
        return [body.get("instructions", ""), *self._said(body, "developer", "system")]

    def users(self, body: Body) -> list[str]:
        return self._said(body, "user")

    def results(self, body: Body) -> list[str]:
        outputs = [i["output"] for i in body["input"] if str(i.get("type")).endswith("call_output")]
        return ["\n".join(strings(each)) for each in outputs]

    def tools(self, body: Body) -> list[str]:
        return list(self._offers(body))

    def whole(self, body: Body, answer: Answer) -> Body:
        offers = self._offers(body)
        calls = [
            _function_call(*offers.get(name, ("", name)), arguments)
            for name, arguments in _calls(self, body, answer)
        ]
        text = {"type": "output_text", "text": answer.text, "annotations": []}
        said = {
            "type": "message", "role": "assistant", "id": f"msg_{next(_ids)}",
            "status": "completed", "content": [text],
        }  # fmt: skip
        details = {"input_tokens_details": {"cached_tokens": 0},
                   "output_tokens_details": {"reasoning_tokens": 0}}  # fmt: skip
        counts = {"input_tokens": TOKENS, "output_tokens": 10, "total_tokens": TOKENS + 10}
        return {
            "id": f"resp_{next(_ids)}", "object": "response", "status": "completed",
            "model": body.get("model", ""), "usage": counts | details,
            "output": [*([said] if answer.text or not calls else []), *calls],
        }  # fmt: skip

    def events(self, body: Body, answer: Answer) -> Iterator[bytes]:
        whole = self.whole(body, answer)
        begun = {**whole, "status": "in_progress", "output": []}
        told: list[Body] = [{"type": "response.created", "response": begun}]
        for index, item in enumerate(whole["output"]):
            told += [
                {"type": f"response.output_item.{when}", "output_index": index, "item": item}
                for when in ("added", "done")
            ]
        told.append({"type": "response.completed", "response": whole})
        yield from (_event(each, each["type"]) for each in told)

    def _said(self, body: Body, *roles: str) -> list[str]:
        items = body["input"] if isinstance(body["input"], list) else []
        said = [item["content"] for item in items if item.get("role") in roles]
        return [text for each in said for text in _texts(each)]

    def _offers(self, body: Body) -> dict[str, tuple[str, str]]:
        """Each tool as `space__tool`, and the two words; the client's own have no space."""
        return {
            f"{space.rstrip('_')}__{each['name']}" if space else each["name"]: (space, each["name"])
            for tool in body.get("tools") or []
            for space in (tool["name"] if "tools" in tool else "",)
            for each in tool.get("tools", [tool])
            if "name" in each
        }


def _function_call(space: str, tool: str, arguments: Body) -> Body:
    call = {
        "type": "function_call", "id": f"fc_{next(_ids)}", "call_id": f"call_{next(_ids)}",
        "name": tool, "arguments": json.dumps(arguments), "status": "completed",
    }  # fmt: skip
    return call | ({"namespace": space} if space else {})


class Generate:
    """Google's `:generateContent` and `:streamGenerateContent`."""

    name = "generate"

    def serves(self, path: str) -> bool:
        return path.endswith(("enerateContent",))

    def system(self, body: Body) -> list[str]:
        return [part.get("text", "") for part in body.get("systemInstruction", {}).get("parts", [])]

    def users(self, body: Body) -> list[str]:
        return [part["text"] for part in self._parts(body, "user") if "text" in part]

    def results(self, body: Body) -> list[str]:
        parts = [p for p in self._parts(body, "user", "function") if "functionResponse" in p]
        return ["\n".join(strings(p["functionResponse"].get("response"))) for p in parts]

    def tools(self, body: Body) -> list[str]:
        listed = [each.get("functionDeclarations", []) for each in body.get("tools") or []]
        return [each["name"] for declared in listed for each in declared]

    def whole(self, body: Body, answer: Answer) -> Body:
        calls = [
            {"functionCall": {"id": f"call_{next(_ids)}", "name": name, "args": arguments}}
            for name, arguments in _calls(self, body, answer)
        ]
        parts = [*([{"text": answer.text}] if answer.text or not calls else []), *calls]
        content = {"role": "model", "parts": parts}
        counts = {"promptTokenCount": TOKENS, "candidatesTokenCount": 10}
        return {
            "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
            "usageMetadata": counts | {"totalTokenCount": TOKENS + 10},
            "modelVersion": "scripted",
        }

    def events(self, body: Body, answer: Answer) -> Iterator[bytes]:
        yield _event(self.whole(body, answer))

    def _parts(self, body: Body, *roles: str) -> list[Body]:
        said = [each for each in body["contents"] if each.get("role", "user") in roles]
        return [part for each in said for part in each.get("parts", [])]


Dialect = Messages | Responses | Generate
DIALECTS: tuple[Dialect, ...] = (Messages(), Responses(), Generate())


def _calls(dialect: "Dialect", body: Body, answer: Answer) -> list[tuple[str, Body]]:
    names = dialect.tools(body)
    return [(offered(name, names), arguments) for name, arguments in answer.calls]


def _texts(content: object) -> list[str]:
    if isinstance(content, list):
        return [part["text"] for part in content if isinstance(part.get("text"), str)]
    return [str(content)] if content else []
