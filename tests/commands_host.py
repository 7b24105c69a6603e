"""A host whose hooks are commands, for tests: its events in the form in which the real clients sent
them (claude 2.1.330, codex 0.169.0, gemini 0.61.0)."""

import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from mdmemory.hosts import background
from mdmemory.hosts.background import Log
from mdmemory.hosts.bridge import asking, without
from mdmemory.hosts.commands.hooks import CommandHooks
from mdmemory.memory import Memory

HOSTS = ("claude", "codex", "gemini")
SESSION = "c736dc5a-9f4e-418b-8399-51368946c136"
_GEMINI = {"UserPromptSubmit": "BeforeAgent", "Stop": "AfterAgent"}


class Started(background.Starter):
    """Remembers what would have been started."""

    def __init__(self) -> None:
        super().__init__(lambda: ["mdmemory"], Path())
        self.words: list[list[str]] = []

    def __call__(self, words: Sequence[str], log: Path, held: Sequence[int] = ()) -> None:
        self.words.append(list(words))


class CommandHost:
    """The other end of the bridge: a client in a folder, whose session is written to a file."""

    def __init__(
        self, host: str, folder: Path, transcript: Path | None = None, *, number: int = 0
    ) -> None:
        self.host, self.folder, self.transcript = host, folder, transcript
        self.started, self.log, self._prompts = Started(), Log(), number
        opened: Callable[[Path], Memory] = partial(Memory.around, automatic=True)
        self.seconds = 0.0  # on the bridge's clock
        self.hooks = CommandHooks(
            opened, lambda _: self.started, self.log, open_typed=Memory.around,
            clock=lambda: self.seconds,
        )  # fmt: skip
        self._hook = self.hooks.hook
        self._last: dict[str, Any] = {}

    def event(self, name: str, session: str = SESSION, **more: Any) -> dict[str, Any]:
        """The JSON that the client puts on the hook's stdin."""
        event = {
            "session_id": session, "cwd": str(self.folder),
            "transcript_path": str(self.transcript or self.folder / "none.jsonl"),
            "hook_event_name": _GEMINI.get(name, name) if self.host == "gemini" else name,
        }  # fmt: skip
        if self.host == "gemini":
            event["timestamp"] = f"2026-11-24T17:15:{self._prompts:02}.725Z"
        elif name in ("UserPromptSubmit", "Stop"):
            key = "prompt_id" if self.host == "claude" else "turn_id"
            event[key] = f"faba11cb-06b3-4522-8a5e-{self._prompts:012}"
        return event | more

    def send(self, name: str, **more: Any) -> dict[str, Any]:
        """What the hook prints for an event."""
        request = {"host": self.host, "folder": str(self.folder), "event": self.event(name, **more)}
        self._last = request
        output = self._hook(request)["output"]
        assert json.loads(json.dumps(output)) == output
        return output

    def lose(self) -> None:
        """The client was gone before the last answer came."""
        self.hooks.lost({"method": "hook", "params": self._last})

    def start(self, source: str = "startup", **more: Any) -> dict[str, Any]:
        return self.send("SessionStart", source=source, **more)

    def say(self, words: str, **more: Any) -> dict[str, Any]:
        self._prompts += 1
        return self.send("UserPromptSubmit", prompt=words, **more)

    def stop(self, answer: str = "Done.", **more: Any) -> dict[str, Any]:
        key = "prompt_response" if self.host == "gemini" else "last_assistant_message"
        return self.send("Stop", stop_hook_active=False, **{key: answer}, **more)

    def alone(self, name: str, **more: Any) -> dict[str, Any]:
        """What the hook prints without a bridge."""
        call = asking.HookCall(self.host, str(self.folder), "", b"", 0.0)
        return without.answer_alone(call, self.event(name, **more)).output

    def write(self, *outputs: dict[str, Any]) -> None:
        """Write these contexts into the session's file, as the client does."""
        assert self.transcript is not None
        with self.transcript.open("a", encoding="utf-8") as file:
            for each in filter(None, map(context, outputs)):
                file.write(json.dumps({"text": each}, ensure_ascii=False) + "\n")


def context(output: dict[str, Any]) -> str:
    """What the assistant is given."""
    return str(output.get("hookSpecificOutput", {}).get("additionalContext", ""))


def shown(output: dict[str, Any]) -> str:
    """What the person sees."""
    return str(output.get("systemMessage", ""))


def first(host: CommandHost, source: str = "startup") -> str:
    """The text that a session's prompt is given: of Gemini CLI with the first message."""
    begun = context(host.start(source))
    if host.host != "gemini":
        return begun
    assert begun == ""
    return context(host.say("Good morning, please look at the readme"))
