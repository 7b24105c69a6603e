"""Builds a release in build/dist and tries it as its users get it: `make release`.

The wheel comes out of the source archive. It is installed into a fresh environment of each Python
that pyproject.toml names and this machine has; the demo and the quick tests run there. The tests
lie in an unpacked archive without the package, so what they import is the wheel.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import contents
from changelog import CHANGELOG, ROOT, VERSION_FILE, problems, version_of
from interpreters import UV, found, promised

DIST, TRIED = ROOT / "build/dist", ROOT / "build/release"
TWINE = "twine@7.0.0"


class Failed(Exception):
    """A step that has to succeed did not. The sentence says which, and what to do."""


def main(wanted: Sequence[str]) -> int:
    """Make the release and try it on the Pythons `wanted`, or on all; the exit code."""
    try:
        wheel, archive = _built(_agreed())
    except Failed as problem:
        print(f"\nNot released: {problem}", file=sys.stderr)
        return 1
    pyproject = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    results = {each: _tried(each, wheel, archive) for each in wanted or promised(pyproject)}
    _tell(results, wheel, archive)
    failed = any(text.startswith("FAILED") for text in results.values())
    tried = any(text.startswith("ok") for text in results.values())
    complete = not os.environ.get("RELEASE_ALL") or all(
        text.startswith("ok") for text in results.values()
    )
    return 0 if tried and complete and not failed else 1


def _tell(results: dict[str, str], wheel: Path, archive: Path) -> None:
    print()
    for version, text in results.items():
        print(f"{version:<5}  {text}")
    for file in (wheel, archive):
        print(f"{file.relative_to(ROOT)}  {file.stat().st_size:,} bytes")


def _agreed() -> str:
    """The version. Raises Failed where the changelog has another one, or work is not committed."""
    version = version_of(VERSION_FILE.read_text(encoding="utf-8"))
    wrong = problems(version, CHANGELOG.read_text(encoding="utf-8"))
    if wrong:
        raise Failed(" ".join(wrong))
    status = ["git", "status", "--porcelain"]
    changed = subprocess.run(status, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    if changed:
        raise Failed(f"commit or remove these first:\n{changed}")
    return version


def _built(version: str) -> tuple[Path, Path]:
    """The wheel and the source archive, checked. Raises Failed."""
    for folder in (DIST, TRIED):
        shutil.rmtree(folder, ignore_errors=True)
    TRIED.mkdir(parents=True)
    _run("build", [UV, "build", "--quiet", "--out-dir", DIST], ROOT)
    wheel = DIST / f"{contents.STEM}-{version}-py3-none-any.whl"
    archive = DIST / f"{contents.STEM}-{version}.tar.gz"
    if wrong := list(contents.problems(ROOT, wheel, archive, version)):
        raise Failed("\n".join(wrong))
    _run("twine check", [UV, "tool", "run", TWINE, "check", "--strict", wheel, archive], ROOT)
    return wheel, archive


def _tried(version: str, wheel: Path, archive: Path) -> str:
    """What came of trying the wheel on a version of Python, as one line."""
    interpreter = found(version)
    if interpreter is None:
        return "NOT TRIED: neither uv nor pyenv has it here, and uv could not fetch it"
    folder = TRIED / version
    try:
        python = _installed(folder, interpreter, wheel)
        _shows_what_it_brings(python)
        summary = _tests(folder, python, wheel, archive)
    except Failed as problem:
        print(f"\n{version}: {problem}", file=sys.stderr)
        return f"FAILED: {str(problem).splitlines()[0]}"
    asked = [python, "-c", "import platform; print(platform.python_version())"]
    return f"ok      {_run('python', asked, folder).strip()}, demo, tests: {summary}"


def _installed(folder: Path, interpreter: Path, wheel: Path) -> Path:
    """The Python of a fresh environment that has the wheel and what it needs."""
    _run("venv", [UV, "venv", "--quiet", "--python", interpreter, folder / "venv"], ROOT)
    python = folder / "venv/bin/python"
    _run("install", [UV, "pip", "install", "--quiet", "--python", python, wheel], ROOT)
    return python


def _shows_what_it_brings(python: Path) -> None:
    """The program, its manual page, its completions and the demo, with warnings as errors."""
    program = python.with_name("mdmemory")
    share = python.parents[1] / "share"
    for place, word in contents.SHARED.items():
        if (share / place).read_text("utf-8") != _run(word, [program, "completion", word], share):
            raise Failed(f"{place} is not what `mdmemory completion {word}` prints")
    home = python.parents[2] / "home"
    home.mkdir()
    _run("demo", [python, "-P", "-W", "error", "-m", "mdmemory", "demo", home / "demo"], home)


def _tests(folder: Path, python: Path, wheel: Path, archive: Path) -> str:
    """The last line of the quick tests, which import the wheel: there is nothing else to import."""
    _run("unpack", ["tar", "-xzf", archive, "-C", folder], folder)
    top = folder / archive.name.removesuffix(".tar.gz")
    shutil.rmtree(top / "mdmemory")
    locked = ["--constraint", top / "requirements-dev.txt"]
    words = [UV, "pip", "install", "--quiet", "--python", python, *locked, f"{wheel}[dev]"]
    _run("install of the tests' packages", words, top)
    tests = [python, "-P", "-m", "pytest", "-n", "auto", "-m", "not slow"]
    said = _run("tests", tests, top, MDMEMORY_TEST_INSTALLED="1")
    return said.strip().splitlines()[-1].strip("= ")


def _run(what: str, words: Sequence[object], folder: Path, **more: str) -> str:
    """Run a program, print what it is, and give what it printed. Raises Failed."""
    print(f"{what}: {' '.join(str(each) for each in words)}", flush=True)
    unset = ("PYTHONPATH", "VIRTUAL_ENV", "MDMEMORY_STORE", "UV_NO_CACHE")
    known = {name: value for name, value in os.environ.items() if name not in unset}
    known |= {"UV_CACHE_DIR": str(TRIED / "cache"), **more}
    done = subprocess.run(
        [str(each) for each in words], cwd=folder, env=known, text=True, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    if done.returncode != 0:
        log = TRIED / f"failed-{what.split()[0]}-{folder.parent.name}.log"
        log.write_text(done.stdout, encoding="utf-8")
        last = "\n".join(done.stdout.splitlines()[-20:])
        raise Failed(f"{what} ended with {done.returncode}: {log.relative_to(ROOT)}\n{last}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
