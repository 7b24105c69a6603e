"""A store with planted twins, and how many of them the offline planner finds.

`python tests/compact/twins.py` prints the figures of docs/performance.md; `--total` and `--seed`
plant another store. Of every fact the planner sees only the text.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations

from mdmemory.compact.offline import Offline
from mdmemory.compact.plan import Merge, named, parse
from mdmemory.files import digest
from mdmemory.note import editing, limits
from mdmemory.note import note as notes_format
from mdmemory.store import conflicts
from mdmemory.store.store import StoredNote
from mdmemory.text.frames import word_set

OWNERS = sorted(
    word_set(
        "billing search checkout archive payroll inventory shipping newsletter analytics support "
        "catalogue booking loyalty upload audit consent profile voucher returns "
        "pricing fraud identity session media video thumbnail invoice refund tax courier warehouse "
        "supplier forecast survey feedback rating wishlist basket discount subscription renewal"
    )
)
THINGS = sorted(
    word_set(
        "worker service importer dashboard queue scheduler gateway exporter crawler mailer cache "
        "database cluster pipeline bot page report form job index proxy router console "
        "webhook stream"
    )
)
OWNERS_ZH = sorted(
    word_set(
        "账单 搜索 结算 归档 工资 库存 物流 通讯 分析 客服 目录 预订 会员 上传 导出 定价 风控 身份 "
        "媒体 发票 退款 税务 仓储 供应 预测 问卷 评分 购物车 折扣 订阅"
    )
)
THINGS_ZH = sorted(word_set("服务 任务 网关 队列 报表 页面 集群 缓存 脚本 接口"))
PEOPLE = ["Anna", "Bilal", "Chen", "Dora", "Emil", "Farah", "Goran", "Hana", "Ivo", "Jun"]
DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"]
PORTS = [str(port) for port in range(8000, 9000, 37)]

# How one says it, how another would, and the values it takes.
VALUES = [
    ("The {s} listens on port {v}", "Port {v} is where the {s} listens", PORTS),
    ("The {s} is released every {v}", "Every {v} the {s} gets released", DAYS),
    ("{v} owns the {s}", "The {s} belongs to {v}", PEOPLE),
    ("The {s} runs on Python {v}", "Python {v} runs the {s}", ["3.10", "3.11", "3.12", "3.13"]),
    ("The {s} keeps its logs for {v} days", "Logs of the {s} stay {v} days", ["7", "14", "30"]),
    ("The {s} times out after {v} seconds", "After {v} seconds the {s} gives up", ["5", "9", "60"]),
    ("The {s} moved on {v}", "It was {v} when the {s} moved", ["2025-03-01", "2025-11-15"]),
    ("The {s} stores its data in {v}", "{v} holds the data of the {s}", ["Postgres", "SQLite"]),
]
OPPOSED = [
    ("The {s} is allowed to send mail", "The {s} is not allowed to send mail"),
    ("Restart the {s} without asking", "Never restart the {s} without asking"),
    ("The {s} needs a review before a release", "The {s} doesn't need a review before a release"),
    ("Wants tests for the {s} in every change", "Wants no tests for the {s} in every change"),
    ("The {s} is updated by hand", "The {s} is not updated by hand"),
    ("The settings of the {s} are public", "The settings of the {s} are private"),
    ("Retries are enabled in the {s}", "Retries are disabled in the {s}"),
    ("Answers about the {s} should be short", "Answers about the {s} should be long"),
    ("The {s} runs before the backup", "The {s} runs after the backup"),
    ("Errors of the {s} are handled manually", "Errors of the {s} are handled automatically"),
]
VALUES_ZH = [
    ("{s}监听端口{v}", "端口{v}由{s}监听", PORTS),
    ("{s}每周{v}发布新版本", "新版本的{s}在周{v}发布", list("一二三四五")),
    ("{s}的日志保留{v}天", "保留{v}天的是{s}的日志", ["7", "14", "30"]),
]
OPPOSED_ZH = [
    ("{s}允许发送邮件", "{s}禁止发送邮件"),
    ("重启{s}之前要先问我", "重启{s}之前不要先问我"),
    ("{s}的错误由人手动处理", "{s}的错误由系统自动处理"),
]
DETAILS = [
    "Why: it broke the release of last spring.",
    "Why: the team asked for it twice.",
    "It was said in the planning meeting.",
    "See the handbook for the rest.",
    "Nobody has complained since.",
]

# What the planner should merge, what it may, what it should flag, and what it should leave alone.
MERGED = ("exact", "reworked", "extended")
MAY_MERGE = ("paraphrase",)
FLAGGED = ("value", "reworded", "opposite")
LEFT = ("neighbour",)


@dataclass
class Planted:
    """The notes, and of each kind of twin the pairs of files."""

    notes: list[StoredNote] = field(default_factory=list)
    pairs: dict[frozenset[str], str] = field(default_factory=dict)


def stored(name: str, type: str, description: str, body: str) -> StoredNote:
    text = editing.compose(name=name, type=type, description=description, body=body)
    file = limits.file_name(type, name)
    return StoredNote(file, digest(text.encode()), notes_format.parse(text, file))


def plant(total: int, seed: int) -> Planted:
    """About `total` notes: eight of ten are twins of another."""
    chance = random.Random(seed)
    planted = Planted()
    facts = _facts(chance)
    while len(planted.notes) < total:
        type, say, others = next(facts)
        detail = chance.choice(DETAILS)
        one = _add(planted, type, say, [detail])
        if chance.random() < 0.67:
            kind = chance.choice([*MERGED, *others])
            two = _twin(planted, chance, kind, type, say, detail, others)
            planted.pairs[frozenset((one.file, two.file))] = kind
    return planted


Fact = tuple[str, str, dict[str, str]]


def _facts(chance: random.Random) -> Iterator[Fact]:
    """Every fact once: its type, how it is said, and what its twins say."""
    seen: set[tuple[str, str]] = set()
    while True:
        chinese = chance.random() < 0.2
        owners, things = (OWNERS_ZH, THINGS_ZH) if chinese else (OWNERS, THINGS)
        glue = "" if chinese else " "
        one = f"{chance.choice(owners)}{glue}{chance.choice(things)}"
        two = f"{chance.choice(owners)}{glue}{chance.choice(things)}"
        values = chance.random() < 0.6
        frames = (VALUES_ZH if chinese else VALUES) if values else None
        opposed = OPPOSED_ZH if chinese else OPPOSED
        frame = chance.choice(frames) if frames else chance.choice(opposed)
        if len(seen) > 20_000:
            raise ValueError("there are no more facts to plant")
        if one == two or (frame[0], one) in seen or (frame[0], two) in seen:
            continue
        seen |= {(frame[0], one), (frame[0], two)}
        type = limits.TYPES[chance.randrange(4)]
        if frames:
            said, otherwise, pool = frame
            left, right = chance.sample(pool, 2)
            say = said.format(s=one, v=left)
            yield type, say, {
                "value": said.format(s=one, v=right),
                "reworded": otherwise.format(s=one, v=right),
                "paraphrase": otherwise.format(s=one, v=left),
                "neighbour": said.format(s=two, v=right),
            }  # fmt: skip
        else:
            yes, no = (text.format(s=one) for text in frame)
            sides = [yes, no]
            chance.shuffle(sides)
            yield type, sides[0], {
                "opposite": sides[1], "neighbour": chance.choice(frame).format(s=two)
            }  # fmt: skip


def _add(planted: Planted, type: str, say: str, details: list[str]) -> StoredNote:
    stop = "。" if say[-1] > "\u2e80" else "."
    body = "\n\n".join([f"{say}{stop}", *details])
    note = stored(f"n{len(planted.notes):05}", type, say, body)
    planted.notes.append(note)
    return note


def _twin(
    planted: Planted, chance: random.Random, kind: str, type: str, say: str, detail: str,
    others: dict[str, str],
) -> StoredNote:  # fmt: skip
    if kind == "exact":
        changed = chance.choice([f"{say}!", say.upper(), say.replace(" ", "  "), say])
        return _add(planted, type, changed, [detail])
    if kind == "reworked":
        return _add(planted, type, _reworked(say, chance), [detail])
    if kind == "extended":
        return _add(planted, type, say, [detail, "The last check was a year later."])
    return _add(planted, type, others[kind], [chance.choice(DETAILS)])


def _reworked(say: str, chance: random.Random) -> str:
    if say[-1] > "\u2e80":
        return f"请{say}" if "的" not in say else say.replace("的", "", 1)
    if " the " in say:
        return say.replace(" the ", " a " if chance.random() < 0.5 else " ", 1)
    return say.replace("The ", chance.choice(["", "Also the "]), 1)


@dataclass
class Found:
    """Planted and found twins of each kind, and what was merged or flagged beyond them."""

    planted: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)

    def recall(self, *kinds: str) -> float:
        return sum(self.found[kind] for kind in kinds) / sum(self.planted[kind] for kind in kinds)

    def precision(self, verb: str, *kinds: str) -> float:
        right = sum(self.found[kind] for kind in kinds)
        return right / (right + self.wrong[verb])


def measure(planted: Planted) -> Found:
    """Pass after pass, as long as the planner says that more is to be done."""
    found = Found(Counter(planted.pairs.values()))
    notes = {note.file: note for note in planted.notes}
    told: list[conflicts.Entry] = []
    more = True
    while more:
        proposal = Offline().propose([*notes.values()], conflicts=told)
        more = proposal.more
        for op in parse(proposal.answer).ops:
            verb, wanted = (
                ("merge", MERGED + MAY_MERGE) if isinstance(op, Merge) else ("flag", FLAGGED)
            )
            for one, two in combinations(sorted(named(op)), 2):
                kind = planted.pairs.get(frozenset((one, two)), "")
                if kind in wanted:
                    found.found[kind] += 1
                else:
                    found.wrong[verb] += 1
                if verb == "flag":
                    pair = [(notes[one], notes[two], op.reason)]
                    told += conflicts.parse(conflicts.add("", pair, "2026-01-01"))
            if isinstance(op, Merge):
                for file in set(op.sources) - {op.target}:
                    del notes[file]
    return found


def table(found: Found) -> str:
    """The figures of docs/performance.md, as a table."""
    rows = [("twins", "planted", "found", "recall")]
    for kind in (*MERGED, *MAY_MERGE, *FLAGGED, *LEFT):
        recall = f"{found.recall(kind):.3f}" if kind not in LEFT else "left alone"
        count = str(found.found[kind]) if kind not in LEFT else "-"
        rows.append((kind, str(found.planted[kind]), count, recall))
    lines = [f"| {' | '.join(row)} |" for row in rows]
    lines.insert(1, "|---|---|---|---|")
    merged, flagged = (
        found.precision("merge", *MERGED, *MAY_MERGE),
        found.precision("flag", *FLAGGED),
    )
    return "\n".join(
        [*lines, "", f"Merges: precision {merged:.3f}. Flags: precision {flagged:.3f}."]
    )


if __name__ == "__main__":
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--total", type=int, default=1_000)
    asked.add_argument("--seed", type=int, default=7)
    given = asked.parse_args()
    print(table(measure(plant(given.total, given.seed))))
