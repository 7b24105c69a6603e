"""A release: version, changelog and tag agree, and the forge runs what the Makefile has."""

import re
import subprocess
import tarfile
import tomllib
import zipfile
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import contents
import pytest
import set_version
import yaml
from changelog import CHANGELOG, ROOT, VERSION_FILE, problems, sections, version_of
from interpreters import promised

from mdmemory.version import VERSION

WORKFLOWS = {path.name: path for path in (ROOT / ".github/workflows").glob("*.yml")}
PYPROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
LOG = "# Changelog\n\n## Unreleased\n\n- More.\n\n## 0.1.0 (2026-11-22)\n\n- First.\n"
SOURCE = '"""The version."""\n\nVERSION = "0.1.0"\n'


def test_the_changelog_begins_with_the_version_and_has_a_date_for_each() -> None:
    assert problems(VERSION, CHANGELOG.read_text(encoding="utf-8")) == []


def test_a_release_that_does_not_agree_is_refused() -> None:
    for version, changelog, tag, said in (
        ("0.2.0", LOG, "", "does not begin with 0.2.0"),
        ("0.1.0", LOG, "v0.1.0", "changes that are not released"),
        ("0.1.0", LOG.replace("## Unreleased\n\n- More.\n\n", ""), "v0.1.1", "not v0.1.0"),
        ("0.1.0", LOG.replace("- First.", ""), "", "says nothing about 0.1.0"),
        ("0.1.0", LOG + "## 0.2.0 (2026-11-28)\n\n- x\n", "", "not in order"),
        ("0.1.0", "# Changelog\n", "", "does not begin with 0.1.0"),
    ):
        (problem,) = problems(version, changelog, tag)
        assert said in problem


def test_a_heading_without_a_date_is_refused() -> None:
    with pytest.raises(ValueError, match=r"0\.1\.0"):
        sections("## 0.1.0\n\n- First.\n")


def begun(folder: Path) -> tuple[Path, Path]:
    """The changelog and the file of the version, in a checkout with 0.1.0."""
    log, source = folder / "CHANGELOG.md", folder / "mdmemory/version.py"
    source.parent.mkdir()
    log.write_text(LOG, encoding="utf-8")
    source.write_text(SOURCE, encoding="utf-8")
    return log, source


def test_setting_a_version_names_it_dates_its_changes_and_makes_the_packages_anew(
    tmp_path: Path,
) -> None:
    log, source = begun(tmp_path)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/write_packages.py").write_text("open('packages', 'w').close()", "utf-8")
    assert set_version.main("0.2.0", tmp_path) == 0
    assert version_of(source.read_text("utf-8")) == "0.2.0"
    newest, first = sections(log.read_text("utf-8"))
    assert (newest.version, newest.date, newest.text) == (
        "0.2.0", date.today().isoformat(), "- More.",
    )  # fmt: skip
    assert (first.version, first.date) == ("0.1.0", "2026-11-22")
    assert problems("0.2.0", log.read_text("utf-8"), "v0.2.0") == []
    assert (tmp_path / "packages").exists()


def test_a_version_that_is_none_or_not_newer_changes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, source = begun(tmp_path)
    for version in ("0.0.9", "0.1.0", "two", ""):
        assert set_version.main(version, tmp_path) != 0
        assert capsys.readouterr().err
        assert (log.read_text("utf-8"), source.read_text("utf-8")) == (LOG, SOURCE)


def test_a_file_that_is_missing_or_does_not_belong_there_is_named(
    tmp_path: Path, git: Callable[..., str]
) -> None:
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    git(checkout, "init", "-q")
    for name in ("mdmemory/a.py", "templates/t.md", "tests/test_a.py", "LICENSE"):
        (checkout / name).parent.mkdir(exist_ok=True)
        (checkout / name).write_text("x", encoding="utf-8")
    files = contents.sources(checkout)
    wheel, archive = tmp_path / "a.whl", tmp_path / "a.tar.gz"
    good = contents.of_wheel(files, "1.0.0")
    assert "mdmemory/shipped/templates/t.md" in good
    assert not [name for name in good if "test" in name]

    def found(names: set[str], packed: set[str]) -> list[str]:
        with zipfile.ZipFile(wheel, "w") as opened:
            for name in sorted(names):
                opened.writestr(name, "")
        with tarfile.open(archive, "w:gz") as unpacked:
            for name in sorted(packed):
                unpacked.addfile(tarfile.TarInfo(name))
        return list(contents.problems(checkout, wheel, archive, "1.0.0"))

    all_packed = contents.of_archive(files, "1.0.0")
    assert found(good, all_packed) == []
    assert found(good - {"mdmemory/a.py"}, all_packed) == ["a.whl lacks mdmemory/a.py"]
    (said,) = found(good | {"tests/test_a.py"}, all_packed)
    assert said.startswith("a.whl has tests/test_a.py")
    (said,) = found(good, all_packed - {"mdmemory_git-1.0.0/LICENSE"})
    assert said == "a.tar.gz lacks mdmemory_git-1.0.0/LICENSE"


def jobs(name: str) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = yaml.safe_load(WORKFLOWS[name].read_text("utf-8"))["jobs"]
    return found


def steps(name: str) -> list[dict[str, Any]]:
    return [step for job in jobs(name).values() for step in job.get("steps", ())]


def test_the_forge_runs_targets_that_the_makefile_has() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([\w-]+):", makefile, re.MULTILINE))
    runs = [step.get("run", "") for name in WORKFLOWS for step in steps(name)]
    named = {each for run in runs for each in re.findall(r"\bmake ([\w-]+)", run)}
    assert {"lint", "test", "demo", "docs", "release"} <= named <= targets
    scripts = {each for run in runs for each in re.findall(r"\bpython (\S+\.py)", run)}
    assert scripts
    assert all((ROOT / script).is_file() for script in scripts)


def test_every_action_of_the_forge_has_a_whole_version() -> None:
    used = [step["uses"] for name in WORKFLOWS for step in steps(name) if "uses" in step]
    assert used
    assert [each for each in used if not re.fullmatch(r"[\w-]+/[\w-]+@v\d+\.\d+\.\d+", each)] == []


def test_the_forge_tries_each_python_that_is_promised_on_linux_and_macos() -> None:
    matrix = jobs("ci.yml")["test"]["strategy"]["matrix"]
    assert matrix["python"] == promised(PYPROJECT) == ["3.11", "3.12", "3.13", "3.14"]
    assert {each.partition("-")[0] for each in matrix["os"]} == {"ubuntu", "macos"}
    assert tomllib.loads(PYPROJECT)["project"]["requires-python"] == f">={matrix['python'][0]}"


def test_only_what_passed_everywhere_is_published_and_without_a_password() -> None:
    release = jobs("release.yml")
    assert release["ci"]["uses"] == "./.github/workflows/ci.yml"
    assert release["publish"]["needs"] == ["ci", "build"]
    assert release["publish"]["permissions"] == {"id-token": "write"}
    assert "secrets." not in WORKFLOWS["release.yml"].read_text("utf-8")
    tried = [step for step in release["build"]["steps"] if step.get("run") == "make release"]
    assert [step["env"]["RELEASE_ALL"] for step in tried] == ["1"]


@pytest.mark.slow
@pytest.mark.skipif(not VERSION_FILE.exists(), reason="the package lies elsewhere")
def test_the_text_of_a_release_is_its_section_of_the_changelog() -> None:
    run = ["python3", "tests/release/changelog.py"]
    done = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=True)
    (section,) = [e for e in sections(CHANGELOG.read_text("utf-8")) if e.version == VERSION]
    assert done.stdout == f"{section.text}\n"
    done = subprocess.run([*run, "v9.9.9"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "v9.9.9" in done.stderr
