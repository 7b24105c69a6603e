"""Servers with a small window, as many kinds of them refuse, or cut, what is too long."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field

from fake_server import Answer, Body

# How servers refuse a question that is longer than their window: status, and the body with the
# tokens asked and the window's put in. The last ones name no window.
REFUSALS: dict[str, tuple[int, Body]] = {
    "openai": (400, {"error": {
        "message": "This model's maximum context length is {window} tokens. However, your messages"
        " resulted in {asked} tokens. Please reduce the length of the messages.",
        "type": "invalid_request_error", "param": "messages", "code": "context_length_exceeded"}}),
    "vllm": (400, {"object": "error", "type": "BadRequestError", "param": None, "code": 400,
        "message": "This model's maximum context length is {window} tokens. However, you requested "
        "{asked} tokens in the messages, Please reduce the length of the messages."}),
    "llama.cpp": (400, {"error": {
        "code": 400, "message": "request ({asked} tokens) exceeds the available context size "
        "({window} tokens), try increasing it", "type": "exceed_context_size_error"}}),
    "lm studio": (400, {"error": "Trying to keep the first {asked} tokens when context the "
        "overflows. However, the model is loaded with context length of only {window} tokens, "
        "which is not enough."}),
    "mistral": (400, {"object": "error", "message": "Prompt contains {asked} tokens and 0 draft "
        "tokens, too large for model with {window} maximum context length", "code": "3051"}),
    "openrouter": (400, {"error": {"code": 400, "message": "This endpoint's maximum context length "
        "is {window} tokens. However, you requested about {asked} tokens ({asked} of text input)."}}
    ),
    "groq": (400, {"error": {"message": "Please reduce the length of the messages or completion.",
        "type": "invalid_request_error", "param": "messages", "code": "context_length_exceeded"}}),
    "old llama.cpp": (500, {"error": {"code": 500, "message": "Context size has been exceeded.",
        "type": "server_error"}}),
    "proxy": (413, {"detail": "Request Entity Too Large"}),
}  # fmt: skip


def refuse(dialect: str, window: int, asked: int) -> Answer:
    """The refusal of a question of `asked` tokens in the words of a kind of server."""
    status, said = REFUSALS[dialect]
    text = json.dumps(said).replace("{asked}", str(asked)).replace("{window}", str(window))
    return Answer(status=status, body=text.encode())


@dataclass
class Window:
    """What a model's window holds: `tokens`, which are four characters each. Give `reply` to a
    FakeServer: a longer question is refused in the words of REFUSALS[`dialect`], or (`silent`) cut
    without a word, as Ollama does; an answer ends at the request's limit, or where the window is
    full. `say` makes the answers."""

    tokens: int
    dialect: str = "openai"
    say: Callable[[Body], str] = lambda _: "Done."
    asked: list[int] = field(default_factory=list)  # tokens of each request

    def reply(self, body: Body) -> Answer:
        asked = sum(len(str(each["content"])) for each in body["messages"]) // 4
        self.asked.append(asked)
        if asked > self.tokens and self.dialect != "silent":
            return refuse(self.dialect, self.tokens, asked)
        limits = [body[name] for name in ("max_tokens", "max_completion_tokens") if name in body]
        left = min([max(1, self.tokens - asked), *limits]) * 4
        text = self.say(body)
        read, written = min(asked, self.tokens), min(len(text), left) // 4
        usage = {"prompt_tokens": read, "completion_tokens": written}
        return Answer(text[:left], finish="length" if len(text) > left else "stop", usage=usage)
