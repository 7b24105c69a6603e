"""The inbox: `mdmemory review`, as a list, as one item after the other, or one answer."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mdmemory.cli import commands
from mdmemory.cli.commands import count_noun, is_terminal, show_value, visible_text, warn_person
from mdmemory.cli.editor import edited_copy, run_editor
from mdmemory.errors import MdmemoryError, UsageError
from mdmemory.layers import MINE, USER
from mdmemory.memory import Memory
from mdmemory.review import answers, waiting
from mdmemory.review.answers import Reviewed, Wording
from mdmemory.review.items import ACTIONS, KEYS, KINDS, Action, InboxItem, Kind, fold

if TYPE_CHECKING:
    from mdmemory.cli.review_screen import Terminal

NOTHING = "Nothing waits for you."
_ALSO = {"a": "1", "b": "2"}  # keys that mean another one


def run_review(layers: Memory, options: Namespace) -> int:
    layers.cited()  # hooks and pages show what this finds out
    if options.all:
        return _answer_all(layers, options)
    if options.id and options.answer:
        return _answer_one(layers, options)
    if options.id or options.json or not is_terminal():
        return _list_items(layers, options)
    layers.settle_wishes()
    if not waiting.items(layers):
        print(NOTHING)
        return 0
    from mdmemory.cli.review_screen import Terminal

    with Terminal() as terminal:
        sitting = _Sitting(layers, terminal, is_all=options.more)
        while sitting.answer_next():
            pass
    print("\n".join([sitting.summary(), *_folded_lines(sitting.away)]))
    return 0


def _list_items(layers: Memory, options: Namespace) -> int:
    with layers.at_one_look():
        shown = [waiting.find_item(layers, options.id)] if options.id else waiting.items(layers)
    away = {} if options.id or options.more else fold(shown)
    hidden = {item.id for items in away.values() for item in items}
    lines = [visible_text(item.as_text()) for item in shown if item.id not in hidden]
    how = "Answer with `mdmemory review ID ANSWER`, or run `mdmemory review` at a terminal."
    count = f"{count_noun(len(shown), 'item')}. {how}" if shown else NOTHING
    rows = [item.as_json() for item in shown]
    return show_value(options, rows, *lines, *_folded_lines(away), count)


def _folded_lines(away: Mapping[str, Sequence[InboxItem]]) -> list[str]:
    """A line in place of what each session left beyond the best."""
    return [
        visible_text(f"and {len(items)} more of session {session}: `mdmemory review --more`")
        for session, items in away.items()
    ]


# --- answers


def _answer_one(layers: Memory, options: Namespace) -> int:
    item = waiting.find_item(layers, options.id)
    if item.is_pair and options.answer == Action.KEEP and options.name:
        options.answer = (Action.THIS, Action.THAT)[_conflict_side(item, options.name)]
    is_edit = options.answer == Action.EDIT
    if item.kind == Kind.ON_HOLD and is_edit and options.text is None and is_terminal():
        print(answers.edit_in_place(layers, item, run_editor))
        return 0
    wording = _read_wording(layers, item, options) if is_edit else None
    return _tell_reviewed([_answer_item(layers, item, options.answer, wording)], options)


def _answer_item(
    layers: Memory, item: InboxItem, action: str, wording: Wording | None = None
) -> Reviewed:
    if wording is None and not is_terminal():
        answers.require_shown(item, action)
    elif question := item.takes_own(action):
        given = commands.ask_person(f"{question} [y/N]") or ""
        if given.casefold() not in ("y", "yes"):
            both = f"`mdmemory review {item.id} both` keeps them so."
            raise MdmemoryError("Both notes stay.", both)
    return answers.answer(layers, item, action, wording)


def _answer_all(layers: Memory, options: Namespace) -> int:
    """One answer for every item of a kind, each a change of its own."""
    is_answer = options.id in ACTIONS and options.id != Action.EDIT
    if options.all not in KINDS or options.answer or not is_answer:
        raise UsageError(
            "`review --all` needs a kind and one answer.",
            f"Such as `mdmemory review --all pending drop`; kinds: {', '.join(KINDS)}.",
        )
    items = [item for item in waiting.items(layers) if item.kind == options.all]
    done: list[Reviewed] = []
    failed = False
    for item in items:
        try:
            done.append(_answer_item(layers, item, options.id))
        except MdmemoryError as problem:
            failed = True
            warn_person(f"{item.id}: {problem.sentences}")
    return _tell_reviewed(done, options, failed=failed)


def _tell_reviewed(done: list[Reviewed], options: Namespace, *, failed: bool = False) -> int:
    rows: list[dict[str, Any]] = [
        {"id": each.item.id, "answer": each.action, "said": each.said, "commit": each.commit,
         "undo": each.id}
        for each in done
    ]  # fmt: skip
    backs = (f" `mdmemory undo {each.id}` takes it back." if each.id else "" for each in done)
    lines = [visible_text(f"{each.said}{back}") for each, back in zip(done, backs, strict=True)]
    value = rows if options.all else rows[0]
    return show_value(options, value, *(lines or [NOTHING]), failed=failed)


def _read_wording(layers: Memory, item: InboxItem, options: Namespace) -> Wording | None:
    """The text for an edit: given, from standard input, or out of the editor."""
    side = _conflict_side(item, options.name) if item.kind == Kind.CONFLICT else 0
    if options.text is not None:
        text = sys.stdin.read() if options.text == "-" else options.text
        # of a note whose head was not given its head stays, with the first line as description
        if item.notes[side].file and not text.startswith("---"):
            text = answers.reword(layers, item, side, text)
        return Wording(text, side)
    text = _edit_side(layers, item, side) if is_terminal() else None
    return Wording(text, side) if text is not None else None


def _conflict_side(item: InboxItem, named: str | None) -> int:
    """Which note of a conflict a person named: 0 or 1. Raises UsageError."""
    for at, (each, sign) in enumerate(zip(item.notes, (Action.THIS, Action.THAT), strict=True)):
        mine = MINE if each.layer == USER else ""
        names = (each.name, each.file, each.file.removesuffix(".md"))
        if named == sign or named in names or named in [f"{mine}{name}" for name in names]:
            return at
    either = " or ".join(each.name for each in item.notes)
    raise UsageError("Which of the two?", f"Name it: {either}.")


def _edit_side(layers: Memory, item: InboxItem, side: int) -> str | None:
    """What a person leaves in an editor; None where they changed nothing."""
    before, name = answers.text_of(layers, item, side)
    with edited_copy(before, name.rpartition("/")[2]) as text:
        return None if text == before else text


# --- one after the other


class _Sitting:
    """A person before the screen: what they answered, what they put off, and what is shown."""

    def __init__(self, layers: Memory, terminal: Terminal, *, is_all: bool) -> None:
        self._layers, self._terminal = layers, terminal
        self._done: list[Reviewed] = []
        self.away = {} if is_all else fold(waiting.items(layers))
        self._shown, self._said, self._scrolled, self._most = "", "", 0, 0
        self._look_again("")

    def answer_next(self) -> bool:
        """Show the next item, and do what its key says; False once none is left, or the person
        goes."""
        if not (left := self._items_left()):
            return False
        item, key = left[0], self._ask_key(left[0])
        page = self._terminal.size()[1] // 2
        by = {"up": -1, "down": 1, "page up": -page, "page down": page, " ": page}.get(key)
        if key in ("q", "ended"):
            return False
        if by is not None:
            self._scrolled = min(max(0, self._scrolled + by), self._most)
            return True
        self._said = ""
        if key == "?":
            from mdmemory.cli.review_screen import RESIZED, help_screen

            self._terminal.draw(help_screen(*self._terminal.size()))
            while self._terminal.key() == RESIZED:
                self._terminal.draw(help_screen(*self._terminal.size()))
        elif key == "u":
            self._undo()
        elif action := next((a for a in item.actions if KEYS[a] == _ALSO.get(key, key)), None):
            self._give_answer(item, action)
        else:
            self._said = f"{key!r} is no answer here; ? shows the keys."
        return True

    def summary(self) -> str:
        """What the sitting came to."""
        put_off = sum(done.action == Action.LATER for done in self._done)
        answers_given = count_noun(len(self._done) - put_off, "answer")
        return f"{answers_given}; {count_noun(len(self._items), 'item')} in the inbox."

    def _items_left(self) -> list[InboxItem]:
        """What waits, but for what was put off."""
        later = {done.item.id for done in self._done if done.action == Action.LATER}
        return [item for item in self._items if item.id not in later]

    def _ask_key(self, item: InboxItem, question: str = "") -> str:
        """Show an item, and give the key that was pressed for it."""
        from mdmemory.cli.review_screen import RESIZED, View, draw_screen

        is_new, self._shown = self._shown != item.id, item.id
        done = len(self._done)
        total = done + len(self._items_left())
        view = View(item, done + 1, total, self._said, self._scrolled, question, bool(done))
        while True:
            drawn = draw_screen(view, *self._terminal.size(), colour=self._terminal.has_colour)
            self._most = drawn.most
            if is_new:  # a key counts for what the person has seen
                self._terminal.forget_typed()
                is_new = False
            self._terminal.draw(drawn.lines)
            if (key := self._terminal.key()) != RESIZED:
                return key

    def _give_answer(self, item: InboxItem, action: str) -> None:
        try:
            wording = None
            if action == Action.EDIT and item.kind == Kind.ON_HOLD:
                with self._terminal.given_back():
                    sentence = answers.edit_in_place(self._layers, item, run_editor)
                self._look_again(sentence)
                return
            if action == Action.EDIT and (wording := self._choose_wording(item)) is None:
                self._look_again("Nothing changed.")
                return
            question = item.takes_own(action)
            if question and self._ask_key(item, f"{question} [y/n]") != "y":
                self._look_again("Nothing changed.")
                return
            done = answers.answer(self._layers, item, action, wording)
        except MdmemoryError as problem:
            self._look_again(problem.sentences, self._scrolled)
            return
        self._done.append(done)
        self._look_again(done.said)

    def _look_again(self, sentence: str, scrolled: int = 0) -> None:
        """Find what waits now, but for what is folded in this sitting."""
        self._said, self._scrolled = sentence, scrolled
        hidden = {item.id for items in self.away.values() for item in items}
        self._items = [item for item in waiting.items(self._layers) if item.id not in hidden]

    def _choose_wording(self, item: InboxItem) -> Wording | None:
        side = 0
        if item.kind == Kind.CONFLICT:
            key = self._ask_key(item, "Edit which: 1 (this) or 2 (that)? Any other key: none.")
            if key not in ("1", "2", "a", "b"):
                return None
            side = 0 if key in "1a" else 1
        with self._terminal.given_back():
            text = _edit_side(self._layers, item, side)
        return None if text is None else Wording(text, side)

    def _undo(self) -> None:
        if not self._done:
            self._said = "There is no answer to take back."
            return
        done, sentence = self._done[-1], "It waits again."
        try:
            if done.action != Action.LATER:
                sentence = answers.take_back(self._layers, done)
        except MdmemoryError as problem:
            self._said = problem.sentences
            return
        self._done.pop()
        self._look_again(sentence)
