"""One marked session or store after the other through a real memory, asked of one server."""

import shutil
import subprocess
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from bench.model_cases import Figures, Marked, Session, Store, finds, judged, matched

from mdmemory import Memory
from mdmemory.compact.plan import Delete, Flag, Merge, Op, Rewrite, named
from mdmemory.compact.runner import OF_THE_PLAN, Outcome
from mdmemory.errors import MdmemoryError
from mdmemory.note import editing
from mdmemory.store.state import Usage

NOW = datetime(2026, 6, 20, 12, tzinfo=UTC)
KINDS = {Merge: "merge", Delete: "delete", Flag: "flag", Rewrite: "rewrite"}


@dataclass
class Bench:
    """Runs cases in folders of `folder`, by the model that the settings in `environment` choose, as
    long as `calls` are left; `figures` are what came of it."""

    folder: Path
    environment: Mapping[str, str]
    calls: int
    figures: Figures = field(default_factory=Figures)

    def session(self, case: Session) -> None:
        """Read one session, and count what became of its facts and its junk."""
        memory = self.make_memory(case.name)
        for kind, name, description, body in case.notes:
            memory.add(name, type=kind, description=description, body=body)
        alone = self.open(memory.project.root, MDMEMORY_PLANNER="offline")
        asked = set(alone.extract(case.transcript, dry_run=True).added)
        begun = time.monotonic()
        done = memory.extract(case.transcript)
        self.figures.seconds += time.monotonic() - begun
        self._spent(memory)
        if done.failure is not None:
            self.figures.failures[done.failure.code] += 1
            self._tell(case.name, "no answer", str(done.failure))
        stored = [*done.added, *done.updated, *done.flagged]
        notes = {note.file: f"{note.note.head.description}\n{note.note.body}"
                 for note in memory.notes() if note.file in stored}  # fmt: skip
        waiting = {each.id: f"{each.description}\n{each.body}" for each in memory.pending()}
        kept = {id(each) for each in case.marked if each.file and each.file in done.reinforced}
        kept |= self._sorted(case, notes, "stored", but=asked)
        waits = self._sorted(case, waiting, "waiting") - kept
        facts = [each for each in case.marked if each.is_fact]
        self.figures.counts.update({
            "sessions": 1, "facts": len(facts),
            "facts kept": sum(id(each) in kept for each in facts),
            "facts waiting": sum(id(each) in waits for each in facts),
        })  # fmt: skip
        for each in facts:
            if id(each) not in kept:
                self._tell(case.name, "fact not kept", each.texts[0].strip() or each.texts[1])

    def _sorted(
        self, case: Session, texts: Mapping[str, str], where: str, but: Collection[str] = ()
    ) -> set[int]:
        """The marked facts that these texts say, as ids; junk and what is not marked is counted.
        Those of `but` are what the person asked for."""
        said: set[int] = set()
        for name, text in texts.items():
            found: Marked | None = matched(text, case.marked)
            if found is not None and found.is_fact:
                said.add(id(found))
            elif name not in but:
                what = "junk" if found else "other"
                self.figures.counts[f"{what} {where}"] += 1
                self._tell(case.name, f"{what} {where}", text)
        return said

    def store(self, case: Store) -> None:
        """Tidy one store, and count which ops were right."""
        memory = self.make_memory(case.name)
        for note in case.notes:
            name = note["file"].removesuffix(".md").partition("-")[2]
            text = editing.compose(
                name=name, type=note["type"], description=note["description"], body=note["body"],
                metadata={"created": "2026-01-01"},
            )  # fmt: skip
            (memory.project.store / note["file"]).write_text(text, encoding="utf-8")
        begun = time.monotonic()
        try:
            done = memory.compact()
        except MdmemoryError as problem:
            self.figures.failures[problem.code] += 1
            return
        finally:
            self.figures.seconds += time.monotonic() - begun
            self._spent(memory)
        self._count(done, case)
        for op, code, why in done.refused:
            self.figures.refusals[code] += 1
            self._tell(case.name, f"refused, {code}", f"{', '.join(named(op))}: {why}")
        for code, why in done.refusals:
            if code not in OF_THE_PLAN:  # these stand among the ops
                self.figures.failures[code] += 1
                self._tell(case.name, f"no answer, {code}", why)

    def _count(self, done: Outcome, case: Store) -> None:
        for op in done.applied:
            self._judge(op, case)
        counts, applied = self.figures.counts, done.applied
        counts["stores"] += 1
        counts[f"stores {done.outcome}"] += 1
        for what, groups in (("duplicates", case.same), ("contradictions", case.contradict)):
            counts[what] += len(groups)
            contradict = what == "contradictions"
            counts[f"{what} found"] += sum(
                any(finds(op, group, contradict=contradict) for op in applied) for group in groups
            )
        counts["past"] += len(case.over)
        proposed = [op for op, code, _ in done.refused if isinstance(op, Delete)]  # which wait
        counts["past found"] += sum(op.file in case.over for op in proposed)

    def _judge(self, op: Op, case: Store) -> None:
        kind, worth = KINDS[type(op)], judged(op, case)
        self.figures.counts[f"{kind} {worth}".strip()] += 1
        if worth == "wrong":
            self._tell(case.name, f"wrong {kind}", ", ".join(named(op)))

    # what each case stands in

    def make_memory(self, name: str) -> Memory:
        """A new store for a case."""
        root = self.folder / name
        template = self.folder / ".template"
        if not template.exists():
            template.mkdir(parents=True)
            for words in (("init", "-q", "-b", "main", "--template="),
                          ("config", "user.name", "A Person"),
                          ("config", "user.email", "person@example.com")):  # fmt: skip
                subprocess.run(["git", "-C", str(template), *words], check=True)
            Memory.init(template, store="notes", environment=self._plain)
        shutil.copytree(template, root)
        return self.open(root)

    def open(self, root: Path, now: datetime = NOW, **settings: str) -> Memory:
        """The memory of a case, in which nothing of this machine is read."""
        environment = {**self._plain, **self.environment, **settings}
        environment["MDMEMORY_DAILY_CALLS"] = str(self.calls)
        return Memory.open(root, environment=environment, clock=lambda: now)

    @property
    def _plain(self) -> dict[str, str]:
        """An environment in which nothing of this machine is read."""
        home = str(self.folder)
        return {"HOME": home, "XDG_CONFIG_HOME": home, "XDG_DATA_HOME": home}

    def _spent(self, memory: Memory) -> None:
        with memory.state() as state:
            usage: Usage = state.usage(NOW.date().isoformat())
        self.calls -= usage.calls
        self.figures.counts.update(calls=usage.calls, input=usage.input, output=usage.output)

    def _tell(self, name: str, what: str, text: str) -> None:
        self.figures.details.append(f"{name}: {what}: {' '.join(text.split())[:160]}")
