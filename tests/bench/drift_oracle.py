"""What became of cited lines, found without the code that is measured: `git blame` and tokens.

Lines stand if their text, white space aside, is at one place of the whole project before and after;
else blame follows each through renames and moves. Lines that were only broken in other places are
found in the files' streams of tokens.
"""

import io
import re
import subprocess
import tarfile
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import accumulate
from pathlib import Path

_TOKEN = re.compile(r"\w+|[^\w\s]")
_ROW = re.compile(r"\^?[0-9a-f]{40} (\d+) (\d+)")
_MOST = 30_000  # tokens of a file
_KNOWN = 20  # letters and digits of a text that is told from others


class Oracle:
    """The history of a repository between two commits, the older one an ancestor of the other."""

    def __init__(self, folder: Path, old: str, new: str) -> None:
        self._folder, self._old, self._new = folder, old, new
        self._blamed = lru_cache(maxsize=None)(self._blame)
        out = self._git("diff", "--name-status", "-z", "-M", old, new).split("\0")
        self._renames: dict[str, str] = {}
        self._changed: set[str] = set()
        self._added: set[str] = set()
        fields = iter(out)
        for status in fields:
            if status[:1] in ("R", "C"):
                before, after = next(fields), next(fields)
                if status[0] == "R":
                    self._renames[before] = after
                self._added.add(after)
                self._changed.add(after)
            elif status:
                path = next(fields)
                if status != "D":
                    self._changed.add(path)
                if status == "A":
                    self._added.add(path)

    def is_changed(self, path: str, lines: tuple[int, int] | None) -> bool:
        """Whether the lines of the older commit stand in the newer one no more, one after the
        other; of a whole file, whether neither it nor one that it was renamed to is there."""
        if path.endswith("/"):
            return not any(each.startswith(path) for each in self._texts(self._new))
        now = self._renames.get(path, path)
        is_there = self._text(self._new, now) is not None
        if lines is None:
            return not is_there and not any(
                path in self._names(each) for each in self._by_name(self._added, path)
            )
        if now == path and path not in self._changed and is_there:
            return False
        text = self._text(self._old, path) or ""
        wanted = [n for n in range(lines[0], lines[1] + 1) if text.split("\n")[n - 1].strip()]
        said = _squeezed("\n".join(text.split("\n")[n - 1] for n in wanted))
        if sum(map(str.isalnum, said)) >= _KNOWN and self._counts(said) == (1, 1):
            return False
        first = [now] if is_there else []
        others = self._by_name(self._changed - {now}, path)
        for each in [*first, *others]:
            if said in self._squeezed(self._new).get(each, "") and self._stand_in(
                each, path, wanted
            ):
                return False
            if each == now and self._is_rewrapped(path, now, lines):
                return False
        return True

    def _counts(self, said: str) -> tuple[int, ...]:
        """How often whole lines are in the project before and after."""
        return tuple(
            sum(text.count(said) for text in self._squeezed(commit).values())
            for commit in (self._old, self._new)
        )

    def _by_name(self, files: set[str], path: str) -> list[str]:
        name = path.rpartition("/")[2]
        return sorted(files, key=lambda each: (each.rpartition("/")[2] != name, each))

    def _names(self, file: str) -> set[str]:
        """The paths that a newer file had since the older commit, by `git log --follow`."""
        since = f"{self._old}..{self._new}"
        out = self._git("log", "--follow", "-M", "--name-status", "--format=", since, "--", file)
        return {name for row in out.split("\n") for name in row.split("\t")[1:]}

    def _stand_in(self, file: str, path: str, wanted: list[int]) -> bool:
        rows = self._blamed(file)
        places = [rows.get((path, number)) for number in wanted]
        if not places or None in places:
            return False
        text = (self._text(self._new, file) or "").split("\n")
        at = [place for place in places if place is not None]
        filled = [number for number in range(at[0], at[-1] + 1) if text[number - 1].strip()]
        return at == filled

    def _blame(self, file: str) -> dict[tuple[str, int], int]:
        """For each line of the older commit (file and number) its number in a newer file."""
        out = self._git("blame", "-w", "-M", "-C", "--line-porcelain", f"{self._old}..{self._new}",
                        "--", file)  # fmt: skip
        found: dict[tuple[str, int], int] = {}
        source = number = 0
        name, is_old = "", False
        for line in out.split("\n"):
            if match := _ROW.match(line):
                source, number, is_old = int(match[1]), int(match[2]), False
            elif line == "boundary":
                is_old = True
            elif line.startswith("filename "):
                name = line[len("filename ") :]
            elif line.startswith("\t") and is_old:
                found.setdefault((name, source), number)
        return found

    def _is_rewrapped(self, path: str, now: str, lines: tuple[int, int]) -> bool:
        old, new = self._text(self._old, path) or "", self._text(self._new, now) or ""
        rows = old.split("\n")
        before = _TOKEN.findall("\n".join(rows[: lines[0] - 1]))
        cited = _TOKEN.findall("\n".join(rows[lines[0] - 1 : lines[1]]))
        tokens, others = _TOKEN.findall(old), _TOKEN.findall(new)
        if len(tokens) > _MOST or len(others) > _MOST or not cited:
            return False
        low, high = len(before), len(before) + len(cited)
        matcher = SequenceMatcher(None, tokens, others, autojunk=False)
        for one, other, size in matcher.get_matching_blocks():
            if one <= low and high <= one + size:
                start, end = other + low - one, other + high - one
                counts = [len(_TOKEN.findall(row)) for row in new.split("\n")]
                return {start, end} <= {0, *accumulate(counts)}  # they are whole lines
        return False

    def _text(self, commit: str, path: str) -> str | None:
        return self._texts(commit).get(path)

    @lru_cache(maxsize=2)  # noqa: B019 - an oracle lives for one pair of commits
    def _texts(self, commit: str) -> dict[str, str]:
        """Every file of a commit."""
        done = subprocess.run(["git", "archive", commit], cwd=self._folder, check=True,
                              capture_output=True)  # fmt: skip
        found = {}
        with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
            for member in archive:
                if member.isfile() and (file := archive.extractfile(member)):
                    found[member.name] = file.read().decode("utf-8", "replace")
        return found

    @lru_cache(maxsize=2)  # noqa: B019 - an oracle lives for one pair of commits
    def _squeezed(self, commit: str) -> dict[str, str]:
        return {path: _squeezed(text) for path, text in self._texts(commit).items()}

    def _git(self, *words: str) -> str:
        done = subprocess.run(["git", *words], cwd=self._folder, check=True, capture_output=True)
        return done.stdout.decode("utf-8", "replace")


def _squeezed(text: str) -> str:
    """The lines without white space, those that are not blank, each between two line ends."""
    rows = ("".join(row.split()) for row in text.split("\n"))
    return "\n" + "".join(f"{row}\n" for row in rows if row)
