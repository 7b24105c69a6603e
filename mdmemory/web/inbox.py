"""The inbox: all that waits for a person, with the answers that `mdmemory review` has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from mdmemory.errors import NotFound, UsageError
from mdmemory.files import digest, to_bytes
from mdmemory.review import answers, waiting
from mdmemory.review.answers import Wording
from mdmemory.review.items import KEYS, KINDS, Action, InboxItem, Kind, Side, fold, label
from mdmemory.web import marks
from mdmemory.web.site import ITEMS, Form, Site, cut, note_path, redirect, whose

SIZE = 20  # items of a page
_TITLE = 90  # characters
_CHANGED = "It was changed while you looked at it, and nothing was done. Here it is as it is now."


@dataclass(frozen=True, slots=True)
class Changed:
    """What a form met: a sentence, and of each text what is different now."""

    message: str
    differences: Sequence[tuple[str, Any]] = ()


def inbox(site: Site, request: Request) -> Response:
    """The list of what waits."""
    return _list(site, request)


def _list(
    site: Site, request: Request, *, changed: Changed | None = None, status: int = 200
) -> Response:
    cache = site.items()
    query = request.query_params
    kind, more = query.get("kind", ""), query.get("more", "")
    wanted = [item for item in cache.value if kind in ("", item.kind)]
    put_off = [item for item in wanted if item.id in site.deferred]
    wanted = [item for item in wanted if item.id not in site.deferred]
    away = {} if more else fold(wanted)
    hidden = {item.id for items in away.values() for item in items}
    shown = cut([item for item in wanted if item.id not in hidden], query.get("page", ""), SIZE)
    counts = {word: sum(item.kind == word for item in cache.value) for word in KINDS}
    return site.page(
        request, "inbox.html", status=status, is_fresh=cache.is_fresh,
        cards=[_card(site, item) for item in shown.rows],
        deferred=[_card(site, item) for item in put_off[:SIZE]],
        kinds=[(word, count) for word, count in counts.items() if count], kind=kind, more=more,
        total=len(cache.value), shown=shown, changed=changed,
        away=[(session, len(items)) for session, items in away.items()],
    )  # fmt: skip


# --- how an item looks


def _card(site: Site, item: InboxItem) -> Mapping[str, Any]:
    shown = item if site.is_at_terminal or not item.is_shielded else _shield(item)
    possible = _possible(site, item)
    text = next((side.text for side in shown.notes if side.text), "").strip()
    firsts = [side.text.strip().partition("\n")[0] or side.name for side in shown.notes[:2]]
    title = " × ".join(dict.fromkeys(firsts))
    return {
        "id": item.id, "anchor": anchor(item.id), "kind": item.kind, "why": item.why,
        "quote": shown.quote, "is_pair": item.is_pair, "seen": _remember(site, item),
        "title": _cut(title), "sides": _sides(site, shown), "has_first": not item.is_pair,
        # one sentence needs no second place
        "is_short": len(shown.notes) == 1 and _cut(title) == text,
        "answers": [each for action in possible for each in _answers(item, action)],
    }  # fmt: skip


def _possible(site: Site, item: InboxItem) -> list[str]:
    """The answers that can be given here: what no commit may hold is edited in its own file, and
    no text stays by an answer that was not shown."""
    actions = [
        each for each in item.actions if not (each == Action.EDIT and item.kind == Kind.ON_HOLD)
    ]
    if item.is_shielded and not site.is_at_terminal:
        actions = [each for each in actions if each in (Action.DROP, Action.LATER)]
    return actions


def _answers(item: InboxItem, action: str) -> list[dict[str, str]]:
    where = quote(item.id)
    if action != Action.EDIT:
        path = f"/inbox/answer/{action}/{where}"
        return [{"path": path, "link": "", "label": label(item, action), "key": KEYS[action]}]
    sides = ("this", "that") if item.is_pair else ("",)
    return [
        {"path": "", "link": f"/inbox/edit/{where}?side={number}",
         "label": f"edit {side}".rstrip(), "key": ("e", "E")[number]}
        for number, side in enumerate(sides)
    ]  # fmt: skip


def _shield(item: InboxItem) -> InboxItem:
    """The item without what only a person at a terminal is shown."""
    texts = item.as_json()
    sides = tuple(
        side._replace(name=clean["name"], text=clean["text"], file="")
        for side, clean in zip(item.notes, texts["notes"], strict=True)
    )
    return item._replace(notes=sides, quote=texts["quote"])


def _sides(site: Site, item: InboxItem) -> list[dict[str, Any]]:
    texts: Sequence[Any] = [side.text for side in item.notes]
    if item.is_pair:
        texts = marks.beside(item.notes[0].text, item.notes[1].text)
    names = ("this", "that") if item.is_pair else ("",) * len(item.notes)
    newest = max(side.date for side in item.notes) if item.notes else ""
    has_both = len(site.layers.there()) == 2
    is_told = item.is_pair and len({side.date for side in item.notes}) == 2
    return [
        {
            "name": side.name, "label": name, "layer": whose(side.layer) if has_both else "",
            "date": side.date, "source": side.source, "text": text,
            "is_newer": is_told and side.date == newest,
            "link": note_path(side.layer, side.file) if side.file else "",
            "place": _place(site, item, side),
        }
        for side, text, name in zip(item.notes, texts, names, strict=True)
    ]  # fmt: skip


def _place(site: Site, item: InboxItem, side: Side) -> str:
    """The path of a note that is edited in its own file."""
    if item.kind != Kind.ON_HOLD or Action.EDIT not in item.actions or not side.file:
        return ""
    return str(site.memory(side.layer).project.store / side.file)


def anchor(id: str) -> str:
    """An item's id as the name of its place on the page."""
    return f"item-{id.replace('/', '-')}"


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _TITLE else f"{line[: _TITLE - 1].rstrip()}…"


# --- answers


def _remember(site: Site, item: InboxItem) -> str:
    """What a form says that its page showed: the texts of the item as they were."""
    text = "\0".join([item.id, item.kind, *(f"{s.file}\0{s.digest}\0{s.text}" for s in item.notes)])
    seen = digest(to_bytes(text))[:24]
    site.shown.put(seen, item)
    return seen


def answer(site: Site, request: Request) -> Response:
    """Do what a form answers."""
    form = site.form(request)
    with site.acting:
        return _answer(site, request, request.path_params["action"], form)


def _answer(site: Site, request: Request, action: str, form: Form) -> Response:
    item = _item(site, request.path_params["id"], form)
    if item is None:
        message = "It does not wait any more: it was answered elsewhere, or its note changed."
        return _list(site, request, changed=Changed(message), status=409)
    if form.get("seen") != _remember(site, item):
        changed = Changed(_CHANGED, _differences(site, form, item))
        if action == Action.EDIT:
            return _edit_page(site, request, item, form, changed)
        return _list(site, request, changed=changed, status=409)
    if action not in _possible(site, item):
        raise UsageError(f"`{action}` is no answer to {item.id} here.", "Open the inbox again.")
    after = _after(site, item)
    if action == Action.LATER:
        return _put_off(site, item, after)
    done = answers.answer(site.layers, item, action, _wording(site, item, form, action))
    site.kept.change(ITEMS, lambda items: [each for each in items if each.id != item.id])
    layers = site.layers
    back = (lambda: answers.take_back(layers, done)) if done.id or done.left else None
    return site.done(done.said, back, after, f"/inbox#{anchor(item.id)}")


def _item(site: Site, id: str, form: Form) -> InboxItem | None:
    """The item as it is now; None where it waits no more."""
    cache = site.items()
    items = cache.value if cache.is_fresh else waiting.items(site.layers)
    return next((item for item in items if item.id == id), None)


def _wording(site: Site, item: InboxItem, form: Form, action: str) -> Wording | None:
    if action != Action.EDIT:
        return None
    side = _side(item, form.get("side"))
    text = form.get("text")
    if not text.strip():
        raise UsageError("The text is empty.", "Go back and write one, or drop the item.")
    if item.notes[side].file and not text.startswith("---"):
        text = answers.reword(site.layers, item, side, text)
    return Wording(text, side)


def _put_off(site: Site, item: InboxItem, after: str) -> Response:
    site.deferred.add(item.id)

    def back() -> str:
        site.deferred.discard(item.id)
        return "It waits again."

    text = f"{_cut(item.notes[0].name)} stays in the inbox."
    return site.done(text, back, after, f"/inbox#{anchor(item.id)}")


def _after(site: Site, item: InboxItem) -> str:
    """The inbox, at the item that comes after this one."""
    shown = [each for each in site.items().value if each.id not in site.deferred]
    at = next((n for n, each in enumerate(shown) if each.id == item.id), -1)
    rest = [*shown[at + 1 :], *shown[: max(at, 0)]]
    return f"/inbox#{anchor(rest[0].id)}" if rest else "/inbox"


def _differences(site: Site, form: Form, item: InboxItem) -> list[tuple[str, Any]]:
    """What is different in each text since the page of the form was made."""
    before = site.shown.get(form.get("seen"))
    if before is None or len(before.notes) != len(item.notes):
        return []
    return [
        (new.name, marks.changes(old.text, new.text))
        for old, new in zip(before.notes, item.notes, strict=True)
        if old.text != new.text
    ]


# --- editing


def edit(site: Site, request: Request) -> Response:
    """A form with the text of an item."""
    item = _item(site, request.path_params["id"], Form({}))
    if item is None or Action.EDIT not in _possible(site, item):
        raise NotFound("It waits no more, or cannot be edited here.", "Open the inbox again.")
    return _edit_page(site, request, item, Form({"side": [request.query_params.get("side", "")]}))


def _edit_page(
    site: Site, request: Request, item: InboxItem, form: Form, changed: Changed | None = None
) -> Response:
    side = _side(item, form.get("side"))
    text = form.get("text") or answers.text_of(site.layers, item, side)[0]
    is_note = bool(item.notes[side].file)
    return site.page(
        request, "inbox_edit.html", status=409 if changed else 200, name=item.notes[side].name,
        why=item.why, text=text, seen=_remember(site, item), side=side, changed=changed,
        label="The whole note; its head stands between the --- lines" if is_note
        else "Text: the first line is the description",
        target=f"/inbox/answer/{Action.EDIT}/{quote(item.id)}", anchor=anchor(item.id),
    )  # fmt: skip


def _side(item: InboxItem, number: str) -> int:
    return 1 if number == "1" and len(item.notes) > 1 else 0


def undo(site: Site, request: Request) -> Response:
    """Take back the act that a form names."""
    act = site.acts.get(site.form(request).get("act"))
    if act is None or act.back is None:
        raise NotFound("That cannot be taken back here.", "The page of changes lists all changes.")
    with site.acting:
        text = act.back()
    site.acts.used(act.id)
    return redirect(act.then, done=site.acts.add(text, then=act.then).id)
