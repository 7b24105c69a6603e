"""What each line of a message looks like by itself: code, quotation, log, chat, mail, markup.

Pure, and linear in the length of the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from mdmemory.text.wordlists import fullmatch, match, pattern, search, words

LOOKED_AT = 400  # characters of a line that are read to tell what kind of line it is
_CLOSING = r"</(?P<name>[a-z][\w-]{0,40})"
# Marks around quoted text; over more than one line they stand at the beginning of a line.
_INLINE = (
    r'"[^"\n]{1,400}"|“[^“”\n]{1,400}”|„[^„“”"\n]{1,400}[“”"]|«[^«»\n]{1,400}»|「[^「」\n]{1,400}」'
    r"|『[^『』\n]{1,400}』|(?<!\w)['‘](?:[^'‘’\n]|(?<=\w)['’](?=\w)){2,300}['’](?!\w)"
)
_SPAN = r"(`{1,2})(?!`)[^`\n]+\1"
_AROUND_LINES = r'(?m)^[ \t]{0,3}(?:"{3}[^"]*"{3}|"[^"]*"|“[^“”]*”|„[^„“”"]*[“”"]|«[^«»]*»)'

# Lines that a machine or another program wrote.
_CLOCK = r"\d{1,2}[:.h]\d\d(?:[:.]\d\d)?(?:[.,]\d{1,6})?(?:[ ]?[ap]\.?m\.?)?"
_DAY = (
    r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/. ]{1,2}(?:\d{1,2}"
    r"|[a-zäéû]{3,9})\.?[-/. ]{1,2}\d{2,4})"
)
_LOG = (
    rf"[\[(<]?{_DAY}[T ,]{{1,2}}{_CLOCK}|[\[(]?{_CLOCK}[\])]?[ \t]+[\[(<]?"
    r"(?:trace|debug|info|notice|warn|warning|error|fatal|critical)\b"
    r"|[\[(<]?(?:trace|debug|info|notice|warn|warning|error|err|fatal|critical|log"
    r"|verbose)[\])>][ \t:]"
    r"|(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)(?:[:|]|[ \t]{2,}"
    r"|[ \t]+[\[(\w.]+[\]):])"
    r"|level=\w+|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[ ]{1,2}\d{1,2} \d\d:\d\d:\d\d"
    r"|Traceback \(|File \"[^\"]{1,200}\", line \d|at [\w.$<>]{1,100} ?\(|npm (?:ERR!|WARN|warn"
    r"|error)"
    r"|(?:stdout|stderr|output|stdin)[ \t]*[:|>]|remote:[ \t]|\+{1,3}[^\w\s]"
    r"|(?:\d{1,5})[ \t]*[|│][ \t]|[│╭╰├└┌]"
)
# Somebody's terminal: what the command said stands below, to a blank line.
_SHELL = (
    r"[+-]{3} [ab]/|@@ -\d|diff --git |[$%❯][ \t]+\S|(?:root"
    r"|\w{1,20})@[\w.-]{1,40}[:~ ][^#$\n]{0,80}[#$][ \t]|>>> |PS [A-Z]:\\"
)
# "[12:03] anna: ...", "12:03 - Anna: ...", "anna (12:03): ...", "<anna> ...", "[Anna]: ...".
_CHAT = (
    rf"[\[(]?(?:{_DAY}[,T ]{{1,2}})?{_CLOCK}[\])]?[ \t]*[-–"
    rf"|>:]?[ \t]*[<@\[]?[^\W\d_][\w .'’()+-]{{0,40}}[>\]]?(?:[ \t]*[:>»|]|$)"
    rf"|[<@\[]?[^\W\d_][\w .'’-]{{0,40}}[>\]]?[ \t]*[\[(,"
    rf"|–-]{{1,2}}[ \t]*(?:{_DAY}[,T ]{{0,2}})?{_CLOCK}[\])]?"
    r"|<@?[\w. -]{1,40}>[ \t]+\S|@[\w.-]{1,40}[ \t]*:"
)
# "Name: text", which counts where such lines stand together.
_SPEAKER = (
    r"(?:\*\*)?[<@]?(?P<name>[^\W\d_][\w.'’-]{0,30}(?:[ ][^\W\d_][\w.'’-]{0,30}){0,2})[>]?(?:[ ]\("
    r"[^()\n]{1,30}\))?(?:\*\*)?[ ]?:(?:\*\*)?[ \t]+\S"
)
_HEADER = (
    r"(?:from|to|cc|bcc|subject|date|sent|reply-to|message-id|received|return-path|mime-version"
    r"|content-type|x-[\w-]{1,40}|von|an|kopie|betreff|gesendet|datum|antwort an"
    r"|de|à|a|objet|envoyé|date|copie|para|asunto|enviado|fecha|enviado el)[ ]?:[ \t]*\S"
)
# One of these alone makes a head; the others need a second.
_HEADER_SURE = r"(?:subject|betreff|objet|asunto|message-id|reply-to|return-path)[ ]?:[ \t]*\S"
_FORWARDED = (
    r"-{2,}[ ]?(?:original message|forwarded message|ursprüngliche nachricht"
    r"|weitergeleitete nachricht"
    r"|message (?:d['’]origine|transféré)|mensaje (?:original|reenviado))"
    r"|begin forwarded message|anfang der weitergeleiteten|début du message"
)
_MARKUP = (
    r"#{1,6}[ \t]+\S|<!--|</?[a-z]+_[\w-]{1,40}[ >]|</?(?:html|head|body|div|p|h[1-6]|ul|ol|li"
    r"|table|tr|td|th|section|article|main|nav|header"
    r"|footer|span|a|img|br|pre|code|blockquote|script|style|meta|title|strong|em|details|summary"
    r"|note|tip"
    r"|instructions?|system|rules?|document|page|file|content|context|email"
    r"|message)\b[^>\n]{0,300}>"
    r"|!\[[^\]\n]{0,200}\]\(|\[!\[|\|[^|\n]{0,200}\||<\?xml|<!doctype|:::|!!! \w|\.\. \w{1,20}::"
    r"|={3,}[ \t]*$|-{3,}[ \t]*$|\[!(?:note|tip|important|warning|caution)\]"
    r"|\*{2}[^*\n]{1,60}\*{2}[ \t]*$"
    r"|={1,5}[ ][^=\n]{1,80}[ ]={1,5}[ \t]*$|---$"
)
_RULE = (
    r"(?:[-=*_~#]{3,}|[-=*_~#]{2,}[ ][^-=*_~#\n]{1,60}[ ][-=*_~#]{2,}|[-–—]{2,}[ ]?(?:end|ende|fin"
    r"|snip|cut|eof)\b[^\n]{0,40}|\[/?\w{1,20}\]|[<[{(]?(?:end of|ende d|fin d)[^\n]{0,40})"
)


@dataclass(slots=True)
class Line:
    """`kind` is "", blank, code, quote, log, shell, chat, head (of a mail), markup, or rule.

    `quoted` are places between quotation marks or in code spans, `told_at` is where another's words
    begin in it ("the page says: ..."), 0 for nowhere; `closes` names the elements that end here.
    """

    start: int
    text: str
    kind: str = ""
    own: bool = True
    told_at: int = 0
    quoted: list[tuple[int, int]] = field(default_factory=list)
    closes: tuple[str, ...] = ()


def lines_of(text: str) -> list[Line]:
    """The lines of a text, each with its kind."""
    lines, start = [], 0
    for piece in text.split("\n"):
        lines.append(Line(start, piece))
        start += len(piece) + 1
    _mark_quotations(text, lines)
    fence = ""
    for line in lines:
        before, fence = fence, fence_after(line.text, fence)
        if before or fence:
            line.kind = "code"
        elif not line.kind:
            line.kind = _kind(line.text[:LOOKED_AT])
            _look_into(line)
    _heads(lines)
    _speakers(lines)
    return lines


def fence_after(text: str, fence: str) -> str:
    """The code fence that is open after a line, "" where none is."""
    mark = match(r"[ \t]*(`{3,}|~{3,})", text)
    if not fence:
        return mark[1] if mark and not (mark[1][0] == "`" and "`" in text[mark.end() :]) else ""
    is_end = mark and mark[1].startswith(fence) and not text[mark.end() :].strip("`~ \t\r")
    return "" if is_end else fence


def _kind(text: str) -> str:
    bare = text.strip()
    if not bare:
        return "blank"
    if match(r" {4}|\t| {0,3}(?:>|&gt;)", text):
        return "quote"
    if fullmatch(_RULE, bare):
        return "rule"
    for kind, expression in (
        ("shell", _SHELL), ("log", _LOG), ("head", _HEADER), ("chat", _CHAT),
        ("markup", _MARKUP),
    ):  # fmt: skip
        if match(expression, bare):
            return kind
    return "head" if match(_FORWARDED, bare) else ""


def _look_into(line: Line) -> None:
    """Quotations and code spans in a line, and where another's words begin in it."""
    if line.kind not in ("", "markup"):
        return
    closings = pattern(_CLOSING, line.text).finditer(line.text)
    line.closes = tuple(found["name"] for found in closings)
    for expression in (_SPAN, _INLINE):
        quotations = pattern(expression, line.text).finditer(line.text)
        line.quoted += [found.span() for found in quotations]
    begin = line.text[:LOOKED_AT]
    asked = match(r"[^.!?:\n]{3,160}[?][ ]+(?=\S)", begin)
    if asked and not line.kind and search("{whose.wording}", asked[0]):
        line.told_at = asked.end() if search("{whose.done_with}", asked[0]) else 0
    colon = match(r"[^:.!?\n]{2,160}?[ ]?:[ ]+(?=\S)", begin)
    # what stands between quotation marks is another's by these alone
    is_quoted = colon and any(start <= colon.end() for start, _ in line.quoted)
    if colon and not line.kind and not is_quoted:
        before = colon[0]
        says = search(r"\b(?:{whose.says}|{whose.done_with})\b", before)
        names = search(r"\b{whose.texts}\b[^:]{0,20}:", before)
        says = None if search("{whose.i_say}", before) else says
        if (says or names) and not search("{whose.keeps}", before):
            line.told_at = colon.end()


def _mark_quotations(text: str, lines: Sequence[Line]) -> None:
    """Lines that lie whole between two quotation marks are a quotation."""
    spans = [found.span() for found in pattern(_AROUND_LINES, text).finditer(text)]
    at = 0
    for line in lines:
        end = line.start + len(line.text.rstrip())
        while at < len(spans) and spans[at][1] < end - 2:
            if spans[at][1] > line.start:
                break
            at += 1
        if at < len(spans) and line.text.strip():
            begin, stop = spans[at]
            if begin <= line.start and end <= stop + 2:
                line.kind = "quote"


def _heads(lines: Sequence[Line]) -> None:
    """ "To: ..." alone is no head of a mail; with another such line beside it, it is."""
    places = [at for at, line in enumerate(lines) if line.kind == "head"]
    sure = (_HEADER_SURE, _FORWARDED)
    for number, at in enumerate(places):
        text = lines[at].text.strip()[:LOOKED_AT]
        beside = places[max(0, number - 1) : number + 2]
        near = any(0 < abs(other - at) <= 2 for other in beside)
        if not near and not any(match(each, text) for each in sure):
            lines[at].kind = ""


def _speakers(lines: Sequence[Line]) -> None:
    """Lines such as "Anna: ..." are a chat where two stand together, or one has a whole name."""
    found: list[tuple[int, str]] = []
    for at, line in enumerate(lines):
        named = match(_SPEAKER, line.text[:LOOKED_AT]) if not line.kind else None
        name = named["name"] if named else ""
        if search("{whose.keeps}", f"{name}:"):
            continue  # "No. Remember: ..." names nobody
        if name and name.lower().split()[0] not in words("whose.labels") and not line.told_at:
            found.append((at, name))
    for (at, one), (after, other) in pairwise(found):
        if after - at <= (6 if one == other else 3):
            lines[at].kind = lines[after].kind = "chat"
    for at, name in found:
        said = name.split()
        if len(said) > 1 and all(word[0].isupper() for word in said):
            lines[at].kind = "chat"
