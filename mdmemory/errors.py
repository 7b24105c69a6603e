"""Every failure that a person can meet: one sentence, the next step, an exit code.

Ground floor. Raise these and nothing else on purpose; the interfaces turn them into words.
"""


class MdmemoryError(Exception):
    """A failure with an outcome that is known: nothing was lost, and there is a next step.

    `message` is one sentence on what is wrong, `hint` one on what to do (may be empty), `code` a
    stable word for programs, `exit_code` what the command line ends with.
    """

    code = "failed"
    exit_code = 1

    def __init__(self, message: str, hint: str = "", code: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        if code:
            self.code = code

    @property
    def sentences(self) -> str:
        """What is wrong, and what to do."""
        return f"{self.message} {self.hint}".rstrip()


class UsageError(MdmemoryError):
    """The command was called in a way that it does not have."""

    code = "usage"
    exit_code = 2


class NotFound(MdmemoryError):
    """A note, commit or file that was named is not there."""

    code = "not_found"


class Ambiguous(NotFound):
    """The name that was given is that of several notes."""


class NoStore(MdmemoryError):
    """No store could be found, or what was named is none."""

    code = "no_store"


class NoGit(MdmemoryError):
    """Something that must be revertible was asked for where there is no git."""

    code = "no_git"


class RepositoryState(MdmemoryError):
    """The repository is in a state in which we write no commit (merge under way, detached HEAD)."""

    code = "repository_state"


class GitFailed(MdmemoryError):
    """git itself said no."""

    code = "git_failed"

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint or "`git fsck` there tells whether the history is damaged.")


class NoteChanged(MdmemoryError):
    """A file is not what the writer saw when it decided to replace it."""

    code = "note_changed"


class Busy(MdmemoryError):
    """Another process holds the store's lock."""

    code = "busy"


class BadNote(MdmemoryError):
    """A note, or a piece of one, that must not be written."""

    code = "bad_note"


class BadSetting(MdmemoryError):
    """A setting that does not exist, has a bad value, or stands where it must not."""

    code = "bad_setting"


class BadTranscript(MdmemoryError):
    """A transcript that cannot be read."""

    code = "bad_transcript"


class Unwritable(MdmemoryError):
    """The file system refused: read-only folder, no permission, no space."""

    code = "unwritable"


GOING_ON = "going on without what is remembered there"


class NoState(Unwritable):
    """What mdmemory remembers of its own work is not to be had: everything goes on without it.

    `what` says of `place` why, as `is a folder`; `hint` is what a person can do.
    """

    code = "no_state"

    def __init__(self, place: str, what: str, hint: str) -> None:
        super().__init__(f"{place} {what}.", hint)
        self.what = what

    def told(self) -> str:
        """The sentence for whoever goes on, with the next step."""
        return f"{self.message[:-1]}: {GOING_ON}. {self.hint}"
