"""Notes as a team's assistant may have taken them, and questions with the notes that answer them.

Written for this; ranking is tuned on these and on nothing else. In data/notes.txt each line is
type, name, description and body; in data/questions.txt a question and the names that answer it.
"""

from pathlib import Path

DATA = Path(__file__).parent / "data"


def notes() -> dict[str, str]:
    """The text of each note, by file."""
    found = {}
    for line in (DATA / "notes.txt").read_text("utf-8").splitlines():
        type, name, description, body = (part.strip() for part in line.split(" | ", 3))
        head = f"name: {name}\ndescription: {_scalar(description)}\nmetadata:\n  type: {type}"
        found[f"{type}-{name}.md"] = f"---\n{head}\n---\n\n{body}\n"
    return found


def questions(kind: str) -> list[tuple[str, frozenset[str]]]:
    """Questions of a kind (natural, known, chinese, unanswerable), each with the names of the
    notes that answer it."""
    sections = (DATA / "questions.txt").read_text("utf-8").split("## ")
    (section,) = (text for text in sections if text.startswith(f"{kind}\n"))
    rows = (line.partition(" | ") for line in section.splitlines()[1:])
    return [(question, frozenset(filter(None, names.split(",")))) for question, _, names in rows]


def _scalar(text: str) -> str:
    return f'"{text}"' if ": " in text or " #" in text else text
