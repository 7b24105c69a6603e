"""Lines for the user on what was done without a message of theirs: by a session's end, a summary, a
tool, a compaction, or a change taken back; the line at the start of a session; and sentences for
the assistant on what was replaced, and on what other hands did.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, NamedTuple

from mdmemory.session.cleaning import line
from mdmemory.store.receipt_box import Receipt

if TYPE_CHECKING:
    from mdmemory.capture.extracted import Extracted
    from mdmemory.capture.store_fact import Stored
    from mdmemory.compact.runner import Outcome
    from mdmemory.store.adopt import Unadopted

SHOWN = 120  # characters of a line for the user
UNDO = "/memory-undo"  # the client's command that takes a change back
REVIEW = "/memory-review"
_FACTS = 2  # of a session that a line names
_FACT = 160  # characters of a fact that a sentence repeats
_FILES, _NAME = 3, 60  # that a line names, and the characters of each


def tell_replaced(pairs: Sequence[Mapping[str, str]], ids: Sequence[str]) -> list[str]:
    """The sentences for the assistant on notes that were replaced, and how to take that back."""
    texts = [
        f'"{line(pair["new"], _FACT)}" ({pair["by"]}) replaces '
        f'"{line(pair["text"], _FACT)}" ({pair["file"]}), which is superseded now.'
        for pair in pairs
    ]
    if texts:
        undo = " and ".join(f"`mdmemory undo {id}`" for id in ids)
        back = f": {undo}, or /memory-undo, takes it back" if ids else ""
        texts.append(f"Tell the user so in a few words{back}.")
    return texts


def by_hand(changes: Sequence[Unadopted], lost: Sequence[str]) -> str:
    """The line on what other hands did and no commit holds yet; "" for nothing. A file that waits
    for a person is counted, and not named: its name may be part of what it is to do."""
    parts = []
    if lost:
        parts.append(f"{len(lost)} notes are gone without a commit that removes them")
    free = [each.file for each in changes if not each.why and each.file not in lost]
    if free:
        names = ", ".join(line(file, _NAME) for file in free[:_FILES])
        more = f" and {len(free) - _FILES} more" if len(free) > _FILES else ""
        parts.append(f"changed by other hands and in no commit yet: {names}{more}")
    if waiting := sum(bool(each.why) for each in changes):
        parts.append(f"{waiting} held back until the user looks at it")
    return f"Notes of mdmemory, {'; '.join(parts)} (`mdmemory status`)." if parts else ""


def show(message: str, variant: str, most: int = SHOWN + 40) -> dict[str, str]:
    """A line for the user, of at most so many characters."""
    line = " ".join(message.split())
    return {"message": line if len(line) <= most else line[: most - 1] + "…", "variant": variant}


def cut(text: str, more: str = "") -> str:
    """A fact as one line without its full stop, short enough to leave room for `more`."""
    text, room = " ".join(text.split()).rstrip("."), SHOWN - len(more)
    return text if len(text) <= room else f"{text[: room - 1].rstrip()}…"


def _some(facts: Sequence[str]) -> str:
    """The first of these facts, and how many more there are."""
    more = f" and {len(facts) - _FACTS} more" if len(facts) > _FACTS else ""
    return f"{cut('; '.join(facts[:_FACTS]), more)}{more}."


def back(id: str | None) -> str:
    """How the user takes the change `id` back, or the newest one."""
    return f"Undo: {UNDO} {id or ''}".rstrip()


# What a receipt counts, and how the line on several receipts says it: for one, and for more.
_COUNTED = {
    "learned": ("1 fact learned", "{} facts learned"),
    "updated": ("1 updated", "{} updated"),
    "replaced": ("1 replaced", "{} replaced"),
    "merged": ("1 note merged", "{} notes merged"),
    "removed": ("1 removed", "{} removed"),
    "flagged": ("1 contradiction found", "{} contradictions found"),
}
# What waits for the user, by its kind, in the order in which it is said.
_WAITING = {
    "lost": ("1 loss of notes", "{} losses of notes"),
    "wish": ("1 unwritten wish", "{} unwritten wishes"),
    "conflict": ("1 conflict", "{} conflicts"),
    "pending": ("1 fact", "{} facts"),
    "forget": ("1 removal", "{} removals"),
    "unconfirmed": ("1 unconfirmed note", "{} unconfirmed notes"),
    "refused_op": ("1 refused change", "{} refused changes"),
    "orphaned": ("1 note whose successor is gone", "{} notes whose successors are gone"),
    "drifted": ("1 note on changed code", "{} notes on changed code"),
    "on_hold": ("1 note on hold", "{} notes on hold"),
    "import_rest": ("1 rest of an import", "{} rests of imports"),
}


def of_extraction(done: Extracted, facts: Sequence[str]) -> Receipt | None:
    """The receipt of an extraction in the background; None where nothing came of it. `facts` are
    those of the added, updated and flagged notes, in this order."""
    counts = {
        "learned": len(done.added) + len(done.flagged), "updated": len(done.updated),
        "replaced": len(done.superseded), "flagged": len(done.flagged),
    }  # fmt: skip
    texts = []
    if facts:
        texts.append(f"Learned from the session: {_some(facts)}")
        texts += replaced(done.superseded)
        if done.flagged:
            texts.append("It contradicts an older note.")
        texts.append(back(done.id))
    if done.pending:
        texts.append(f"{waiting({'pending': len(done.pending)})}.")
    if not texts:
        return None
    variant = "warning" if done.flagged else "success" if facts else "info"
    counts = {name: count for name, count in counts.items() if count}
    return Receipt(" ".join(texts), counts, variant, done.session)


def of_compaction(outcome: Outcome) -> Receipt | None:
    """The receipt of a compaction that changed something; None for any other."""
    if outcome.outcome != "applied" or not outcome.applied:
        return None
    counts: Counter[str] = Counter()
    for op in outcome.applied:
        verb, _, many = _OPS[type(op).__name__].partition(" ")
        counts[verb] += len(getattr(op, many)) if many else 1
    message = f"Compaction: {cut(outcome.about).rstrip('.')}. {back(outcome.id)}"
    return Receipt(message, dict(counts), "info")


# what each op of a plan counts as, and what of it is counted
_OPS = {"Merge": "merged sources", "Delete": "removed", "Rewrite": "updated", "Flag": "flagged"}


class TakenBack(NamedTuple):
    """What `/memory-undo` did: a sentence for the assistant, and a line for the user."""

    text: str
    toast: dict[str, str]


def taken_back(facts: Sequence[str], reasons: Sequence[str], id: str | None, how: str) -> TakenBack:
    """On a change taken back; `reasons`: why some of it stays; `id`, `how`: to get it again."""
    if not facts:
        why = "; ".join(dict.fromkeys(reasons)) or "the notes say that already"
        sentence = f"Nothing was taken back: {why}. `mdmemory log` lists the changes."
        return TakenBack(f"mdmemory: {sentence} Tell the user.", show(sentence, "warning"))
    sentence = f"Taken back: {cut('; '.join(facts))}."
    rest = f" A part of it stays, because {'; '.join(dict.fromkeys(reasons))}." if reasons else ""
    back = f" {how or f'To undo this: {UNDO} {id}.'}" if id else ""
    text = f"mdmemory did it. {sentence}{rest} Tell the user what was taken back, in one sentence."
    return TakenBack(text, show(f"{sentence}{rest}{back}", "success", most=400))


def still_there(facts: Sequence[str], id: str) -> dict[str, str]:
    """The line on notes that stay although the client took the messages back."""
    return show(f"Still remembered: {_some(facts)} {back(id)}", "info", most=400)


def replaced(pairs: Sequence[Mapping[str, str]]) -> list[str]:
    """A sentence on the notes that were superseded: what they say; [] for none."""
    texts = "; ".join(pair["text"] for pair in pairs)
    return [f"It replaces: {cut(texts)}."] if texts else []


def of_tool(done: Stored, made: str = "") -> dict[str, str]:
    """The line on a fact that the assistant stored, with what it replaces; `made` names a store
    that it is the first note of."""
    what = "Remembered" if done.status == "" else "Noted with a `?`, for no words of yours prove it"
    texts = [f"{what}: {cut(done.fact)}.", *replaced(done.superseded), *_new(made), back(done.id)]
    return show(" ".join(texts), "success" if done.status == "" else "info", most=400)


def of_as_said(stored: Sequence[Stored], made: str = "") -> dict[str, str] | None:
    """The line on what nobody worded anew, and so was stored as it was said; None for nothing.
    `made` names stores that it is the first note of."""
    facts = [each.fact for each in stored if each.fact and not each.existed]
    if not facts:
        return None
    text = f"Remembered in your words: {_some(facts)}"
    return show(" ".join([text, *_new(made), back(stored[-1].id)]), "success", most=400)


def _new(made: str) -> list[str]:
    return [f"First note in {made}."] if made else []


def of_declined(fact: str, why: str) -> dict[str, str]:
    """The line on a request that the assistant did not take for one of the memory."""
    hint = "To keep it all the same: /remember and the fact."
    return show(f"Not remembered: {cut(fact)}. {why} {hint}", "info", most=400)


def of_summary(facts: Sequence[str]) -> dict[str, str] | None:
    """The line on what the summary of a session brought; None for nothing."""
    if not facts:
        return None
    return show(f"Learned from the summary: {_some(facts)} {back(None)}", "success", most=400)


def as_toast(receipt: Receipt) -> dict[str, str]:
    """A receipt as a line that the host shows; what it says may have lain in a file."""
    known = ("info", "success", "warning", "error")
    variant = receipt.variant if receipt.variant in known else "info"
    return show(line(receipt.message, 400), variant, most=400)


def since(news: Sequence[Receipt], today: date) -> str:
    """What these receipts tell, in one sentence without its full stop; "" without any."""
    if not news:
        return ""
    day = min((each.at[:10] for each in news if each.at), default="")
    counts: Counter[str] = Counter()
    for each in news:
        counts.update({name: each.counts.get(name, 0) for name in _COUNTED})
    numbers = ", ".join(_numbers(counts, _COUNTED))
    try:
        # a day to come is that of a clock that was put back
        days = max((today - date.fromisoformat(day)).days, 0)
    except ValueError:
        days = 0
    when = {0: "Since your last session", 1: "Since yesterday"}
    return f"{when.get(days, f'In the last {days} days')}: {numbers}" if numbers else ""


def waiting(counts: Mapping[str, int]) -> str:
    """What waits for the user, in one sentence without its full stop; "" for an empty inbox."""
    numbers = _numbers(counts, _WAITING)
    if not numbers:
        return ""
    listed = " and ".join(filter(None, (", ".join(numbers[:-1]), numbers[-1])))
    is_one = len(numbers) == 1 and listed.startswith("1 ")
    return f"{listed} {'waits' if is_one else 'wait'} for you: {REVIEW}"


def _numbers(counts: Mapping[str, int], words: Mapping[str, tuple[str, str]]) -> list[str]:
    return [
        (many.format(count) if count != 1 else one)
        for name, (one, many) in words.items()
        if (count := counts.get(name, 0)) > 0
    ]


def start(news: Sequence[Receipt], counts: Mapping[str, int], today: date) -> str:
    """The line at the start of a session: what happened while nobody looked, and what waits."""
    return "; ".join(filter(None, (since(news, today), waiting(counts))))


def start_toast(news: Sequence[Receipt], counts: Mapping[str, int], today: date) -> dict[str, str]:
    """The same for the user; of one receipt its own words. Without a message for nothing."""
    if len(news) == 1:
        one = as_toast(news[0])
        waits = f" {waiting(counts)}" if waiting(counts) else ""
        return show(one["message"] + waits, one["variant"], most=400)
    text = start(news, counts, today)
    return show(text, "info", most=400) if text else {}
