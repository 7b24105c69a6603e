"""Asks Anthropic's API a question, with the memory of this folder as the model's memory tool."""

import json
import os
from urllib.request import Request, urlopen

from mdmemory import MemoryTool

SERVER = os.environ.get("ANTHROPIC_BASE_URL", "https://api.anthropic.com")
HEADERS = {
    "content-type": "application/json",
    "anthropic-version": "2023-06-01",
    "x-api-key": os.environ["ANTHROPIC_API_KEY"],
}
memory = MemoryTool.open(".")
body = {
    "model": "claude-sonnet-4-5",
    "max_tokens": 4096,
    "tools": [memory.to_dict()],
    "messages": [{"role": "user", "content": "Which port has the proxy?"}],
}
while True:
    request = Request(f"{SERVER}/v1/messages", json.dumps(body).encode(), HEADERS)
    with urlopen(request) as response:
        parts = json.load(response)["content"]
    results = [
        {"type": "tool_result", "tool_use_id": part["id"], "content": memory.handle(part["input"])}
        for part in parts
        if part["type"] == "tool_use"
    ]
    if not results:
        break
    body["messages"].append({"role": "assistant", "content": parts})
    body["messages"].append({"role": "user", "content": results})
print(parts[-1]["text"])
