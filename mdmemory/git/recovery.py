"""What a killed process left: finished where the branch holds its commit, or can; else given up.

A person may have used git since the crash. Their word counts: what HEAD says of a file, what they
staged, and every file that is not what the journal expects.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from mdmemory.files import name_refusals
from mdmemory.git import index_file, replacement, repositories
from mdmemory.git.commits_of_store import History
from mdmemory.git.journal import Journal
from mdmemory.git.objects import Blob, Entries
from mdmemory.git.transaction import Transactions


def recover(transactions: Transactions) -> tuple[str, ...]:
    """Finish what a killed process began; what there is to say of that, () when there was nothing.

    Safe to repeat. Raises what a write raises; then the journal stays, and with it our lock on
    git's index.
    """
    journal = transactions.journals.read()
    sentences: tuple[str, ...] = ()
    with name_refusals(transactions.journals.room):
        if journal is not None:
            # the folder of the journal may be another than ours: `init` writes above the store
            history = History(transactions.history.repository, Path(journal.folder))
            resume = _resume if journal.branch else _resume_uncommitted
            sentences = resume(Transactions(history), journal)
        if transactions.journals.room.is_dir():
            index_file.clear_our_locks(transactions.history.repository)
            transactions.journals.prepare()
            if transactions.staging.was_taken():
                replacement.sweep_fresh(transactions.folder)
            transactions.staging.release()
    return sentences


def _resume(transactions: Transactions, journal: Journal) -> tuple[str, ...]:
    history, staging = transactions.history, transactions.staging
    had_lock = staging.is_ours()
    staging.take(journal.id)
    if journal.commit != journal.base:  # or no git of ours was to move the branch
        since = transactions.journals.written_ns()
        index_file.clear_dead_locks(history.repository, journal.branch, journal.commit, since)
    if _can_go_on(transactions, journal):
        transactions.move_branch(journal)
    tip = history.head()
    if not _is_reached(history, journal.commit, tip):
        return _give_up(transactions, journal)
    # HEAD may have gone on, to other texts of our files: those are a person's
    there = history.read_tree(tip, journal.entries)
    ours = {file: blob for file, blob in journal.entries.items() if there.get(file) == blob}
    theirs = [move for move in journal.moves if move.file not in ours]
    _retract(transactions, theirs)
    late = replacement.settle_all(transactions.folder, theirs)  # the old text is in the branch
    staging.prepare(journal.id, ours if had_lock else _still_old(history, ours, journal.base))
    steps = [move for move in journal.moves if move.file in ours]
    awaited = replacement.list_awaited(transactions.folder, steps)
    return render_outcome(awaited, {**late, **transactions.finish(replace(journal, moves=steps))})


def _resume_uncommitted(transactions: Transactions, journal: Journal) -> tuple[str, ...]:
    """The same where no branch is to move."""
    awaited = replacement.list_awaited(transactions.folder, journal.moves)
    return render_outcome(awaited, transactions.finish(journal))


def render_outcome(awaited: Sequence[str], reasons: replacement.Kept) -> tuple[str, ...]:
    """The sentences on a write that was finished: notes that were not there before, and kept
    files."""
    put = [file for file in awaited if file not in reasons]
    again = f"{', '.join(put)}: put in place; if you had removed it since, remove it again."
    sentences = ["A write that was interrupted is finished.", *([again] if put else [])]
    return (*sentences, *_render_kept(reasons))


def _render_kept(reasons: replacement.Kept) -> list[str]:
    return [f"{file}: {why}." for file, why in reasons.items()]


def _can_go_on(transactions: Transactions, journal: Journal) -> bool:
    """Whether the branch was not moved, and nothing happened since that stands in the way."""
    history = transactions.history
    if transactions.journals.has_moved():
        return False  # by us; if it is elsewhere by now, a person reset it
    if repositories.read_branch(history.repository) != journal.branch:
        return False
    # gc removes what nothing refers to, after two weeks
    there = journal.commit is None or history.find_commit(journal.commit) is not None
    return there and history.head() == journal.base


def _is_reached(history: History, commit: str | None, tip: str | None) -> bool:
    if commit is None or commit == tip:
        return True
    return tip is not None and history.is_part_of(commit, tip)


def _give_up(transactions: Transactions, journal: Journal) -> tuple[str, ...]:
    """The branch is elsewhere, without the commit: the files stay, what was aside comes back."""
    reasons = _retract(transactions, journal.moves)
    transactions.journals.drop()
    return ("A write that was interrupted is given up.", *_render_kept(reasons))


def _retract(transactions: Transactions, steps: Sequence[replacement.Move]) -> replacement.Kept:
    """Give these moves up; the files whose other text had to stay aside, and where it is."""
    folder = transactions.folder
    return {move.file: why for move in steps if (why := replacement.retract(folder, move))}


def _still_old(history: History, entries: Entries, base: str | None) -> dict[str, Blob | None]:
    """Without what a person staged since they removed our lock."""
    staged, old = history.read_index(entries), history.read_tree(base, entries)
    blobs = {}
    for file, blob in entries.items():
        there = staged.get(file)
        if (there.blob if there else None) == old.get(file) and not (there and there.closed):
            blobs[file] = blob
    return blobs
