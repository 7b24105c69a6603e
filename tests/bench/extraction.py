"""What reading a session keeps: `python tests/bench/extraction.py FILE`.

Each line of FILE is a session: `{"id", "lang", "notes": [{"name", "type", "description", "body"}],
"turns": [[who, text]], "facts": [{"id", "text", "turn", "literals", "replaces"}], "junk": [...]}`,
where `replaces` names the note that a fact makes untrue. The real extraction reads each, with the
answers of a reader (`--answers FILE`, lines of `{"question": digest of what was asked, "answer"}`).
A question without an answer counts as a server that is not there, and `--ask FILE` writes it down:
first what deserves a note; then, with the answers to that, what lasts. A fact is kept where a note
says half of its words, or all of its literals; other notes are listed, for a person to read.
"""

import argparse
import hashlib
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "e2e"))

from bench.merges import read
from bench.model_cases import NEAR, Marked
from bench.model_run import Bench
from fake_server import Answer, Body, FakeServer, system_text, user_texts

Row = dict[str, Any]
NOW = datetime(2026, 2, 10, 12, tzinfo=UTC)  # before every date that the sessions look forward to
SERVER = {
    "MDMEMORY_PLANNER": "openai",
    "MEMORY_EXTRACT_MODEL": "openai/reader",
    "OPENAI_API_KEY": "x",
}


class Reader:
    """Answers questions from a file, and keeps those that have no answer in it."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._answers = {row["question"]: row["answer"] for row in rows}
        self.unanswered: dict[str, str] = {}

    def reply(self, body: Body) -> Answer:
        """The answer to a request; status 404 where there is none, which no client tries again."""
        question = "\n".join(user_texts(body))
        text = f"{system_text(body)}\n\n{question}"
        digest = hashlib.sha256(question.encode()).hexdigest()[:12]
        if digest not in self._answers:
            self.unanswered[digest] = text
            return Answer(status=404)
        return Answer(self._answers[digest])


def transcript(row: Row) -> bytes:
    """The session as OpenCode exports it, all of it at noon."""
    messages = []
    for number, (who, text) in enumerate(row["turns"], 1):
        part = {"type": "text", "text": text}
        if who == "tool":
            part = {"type": "tool", "tool": "bash", "state": {"output": text}}
        created = int(NOW.timestamp() * 1000) + number
        info = {"id": f"msg_{number:03}", "role": "assistant" if who == "tool" else who,
                "time": {"created": created}}  # fmt: skip
        messages.append({"info": info, "parts": [part]})
    return json.dumps({"info": {"id": f"ses_{row['id']}"}, "messages": messages}).encode()


def extract(bench: Bench, row: Row) -> Counter[str]:
    """Read one session; how many facts were stored, wait or are lost, and what else was stored."""
    bench.make_memory(row["id"])
    memory = bench.open(bench.folder / row["id"], NOW)
    for note in row["notes"]:
        memory.add(note["name"], type=note["type"], description=note["description"],
                   body=note["body"])  # fmt: skip
    before = {note.file for note in memory.notes()}
    done = memory.extract(transcript(row))
    notes = [each for each in memory.notes() if each.file not in before]
    stored = [f"{each.note.head.description}\n{each.note.body}" for each in notes]
    waiting = [f"{each.description}\n{each.body}" for each in memory.pending()]
    replaced = {each.note.head.name for each in memory.notes() if each.note.head.status}
    counts = Counter(sessions=1, facts=len(row["facts"]), unanswered=done.failure is not None)
    for fact in row["facts"]:
        where = "stored" if says(stored, fact) else "waiting" if says(waiting, fact) else "lost"
        counts[where] += 1
        counts["changes"] += bool(fact["replaces"])
        counts["replaced"] += fact["replaces"] in replaced
        if where != "stored":
            print(f"{row['id']} {fact['id']} {where}: {fact['text']}")
    for text in stored:
        if not any(says([text], fact) for fact in row["facts"]):
            counts["others stored"] += 1
            print(f"{row['id']} stored beside the facts: {' '.join(text.split())}")
    return counts


def says(texts: Sequence[str], fact: Row) -> bool:
    """Whether one of the texts says the fact."""
    marked = Marked(True, (fact["text"],))
    literals = [str(each).casefold() for each in fact["literals"]]
    return any(
        marked.nearness(text) >= NEAR
        or (literals and all(each in text.casefold() for each in literals))
        for text in texts
    )


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--answers", type=Path)
    parser.add_argument("--ask", type=Path)
    asked = parser.parse_args(arguments)
    reader = Reader(read(asked.answers) if asked.answers else ())
    counts: Counter[str] = Counter()
    with FakeServer() as server, tempfile.TemporaryDirectory() as folder:
        server.script.reply, server.script.is_raw = reader.reply, True
        bench = Bench(Path(folder), {**SERVER, "OPENAI_BASE_URL": server.url}, 1_000)
        for row in read(asked.file):
            counts += extract(bench, row)
    print(", ".join(f"{name} {count}" for name, count in counts.items()))
    if asked.ask:
        rows = [{"question": each, "text": text} for each, text in reader.unanswered.items()]
        asked.ask.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
