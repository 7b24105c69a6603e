"""One thing that waits for a person: its texts, why it waits, and the answers it can have. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Any, NamedTuple


class Kind(StrEnum):
    """The kinds, in the order in which they come: what a person did or said, then contradictions,
    then what a model found, then what has time."""

    LOST, WISH, CONFLICT, FORGET = "lost", "wish", "conflict", "forget"
    PENDING, UNCONFIRMED, ORPHANED = "pending", "unconfirmed", "orphaned"
    ON_CHANGED = "drifted"  # a note of which the project changed what it cites
    REFUSED, ON_HOLD, REST = "refused_op", "on_hold", "import_rest"


class Action(StrEnum):
    """The answers; `this` and `that` are the first and the second note of a conflict."""

    KEEP, THIS, THAT, BOTH = "keep", "this", "that", "both"
    EDIT, DROP, LATER = "edit", "drop", "later"


KINDS, ACTIONS = tuple(Kind), tuple(Action)
BETWEEN = "both"  # the layer of what lies between the two
FROM_ONE = 5  # proposals of one session that are shown at once

KEYS: dict[str, str] = {
    Action.KEEP: "1", Action.THIS: "1", Action.THAT: "2", Action.BOTH: "3", Action.EDIT: "e",
    Action.DROP: "d", Action.LATER: "l",
}  # fmt: skip
_LABELS: dict[str, str] = {Action.THIS: "keep this", Action.THAT: "keep that"}
_OF_KIND: dict[str, dict[str, str]] = {
    Kind.LOST: {Action.KEEP: "put them back", Action.DROP: "they were meant to go"},
    Kind.FORGET: {Action.DROP: "forget it"}, Kind.REFUSED: {Action.DROP: "remove it"},
}  # fmt: skip


class Side(NamedTuple):
    """One of the texts: of a note, or of what may become one. `date` is `YYYY-MM-DD` or "",
    `file` the note's file, "" where it is no note yet."""

    name: str
    layer: str
    text: str
    date: str = ""
    source: str = ""
    file: str = ""
    digest: str = ""

    def about(self) -> list[str]:
        """Whose it is, its day and its source, where known."""
        whose = "your own store" if self.layer == "user" else self.layer
        return [each for each in (whose, self.date, self.source) if each]


class InboxItem(NamedTuple):
    """`key` is what its own room knows it by (an id or a file), `layer` whose memory it waits in.
    `is_shielded`: it reads like an order to an assistant, and is shown to a person alone. Of those
    that one `session` left, the one with the highest `rank` comes first."""

    id: str
    kind: str
    notes: tuple[Side, ...]
    why: str
    actions: tuple[str, ...]
    layer: str
    key: str
    quote: str = ""
    since: str = ""
    is_shielded: bool = False
    session: str = ""
    rank: int = 0

    @property
    def is_pair(self) -> bool:
        """Whether it is two notes, of which one is to be chosen."""
        return len(self.notes) == 2 and self.kind in (Kind.CONFLICT, Kind.REFUSED)

    def takes_own(self, action: str) -> str:
        """What to ask before an answer that removes the person's own note; "" for any other."""
        is_own = self.layer == BETWEEN and action == Action.THIS
        return f"Remove your own {self.notes[1].name}, for all projects?" if is_own else ""

    def as_json(self) -> dict[str, Any]:
        """What programs and assistants are told of it."""
        hidden = "(shown at a terminal only)"
        return {
            "id": self.id, "kind": self.kind,
            "notes": [
                {"name": hidden if self.is_shielded else side.name, "layer": side.layer,
                 "text": hidden if self.is_shielded else side.text, "date": side.date,
                 "source": side.source, "file": hidden if self.is_shielded else side.file}
                for side in self.notes
            ],
            "why": self.why, "quote": "" if self.is_shielded else self.quote,
            "actions": [*self.actions], "layer": self.layer, "since": self.since,
        }  # fmt: skip

    def as_text(self) -> str:
        """The same in lines, with an empty one at the end."""
        fields = self.as_json()
        names = ("this: ", "that: ") if self.is_pair else ("",) * len(self.notes)
        lines = [f"{self.id}  {self.kind.replace('_', ' ')}: {self.why}"]
        for side, shown, name in zip(fields["notes"], self.notes, names, strict=True):
            lines.append(f"  {name}{side['name']} ({', '.join(shown.about())})")
            lines += [f"    {line}" for line in side["text"].split("\n") if line.strip()]
        if fields["quote"]:
            lines.append(f"  quote: “{fields['quote']}”")
        return "\n".join([*lines, f"  answers: {', '.join(self.actions)}", ""])


def label(item: InboxItem, action: str) -> str:
    """What an answer is called at an item."""
    name = _OF_KIND.get(item.kind, _LABELS).get(action) or _LABELS.get(action, action)
    return f"{name} (yours goes in all projects)" if item.takes_own(action) else name


def in_order(items: Iterable[InboxItem], mine: str) -> list[InboxItem]:
    """The items as a person meets them, each under an id of its own. Of two with one id, that of
    the person's layer gets `mine` in front."""
    ranked = sorted(items, key=lambda item: (item.layer, item.id))
    first = set[str]()
    for at, item in enumerate(ranked):
        if item.id in first:
            ranked[at] = item._replace(id=f"{mine}{item.id}")
        first.add(item.id)
    ranked.sort(key=lambda item: item.rank, reverse=True)
    ranked.sort(key=lambda item: (item.since, item.session), reverse=True)
    return sorted(ranked, key=lambda item: KINDS.index(item.kind))


def fold(items: Iterable[InboxItem]) -> dict[str, list[InboxItem]]:
    """What each session left beyond the best FROM_ONE of its proposals, in the order given: it is
    shown when it is asked for."""
    by_session: dict[str, list[InboxItem]] = {}
    for item in items:
        if item.kind == Kind.PENDING and item.session:
            by_session.setdefault(item.session, []).append(item)
    return {session: group[FROM_ONE:] for session, group in by_session.items() if group[FROM_ONE:]}
