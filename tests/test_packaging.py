"""The wheel: all that the commands need is in it, and nothing else."""

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from importlib import metadata
from pathlib import Path

import contents
import pytest
import size
from pace import HUNG

from mdmemory import assets
from mdmemory.version import VERSION

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built as a release would be, by the build backend itself, without network."""
    folder = tmp_path_factory.mktemp("wheel")
    words = (sys.executable, "-P", "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder))
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=HUNG)
    assert done.returncode == 0, f"is `.[dev]` installed? {done.stderr}"
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a fresh environment that holds the wheel, and no checkout."""
    folder = tmp_path_factory.mktemp("venv")
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin/python"
    asked = (str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))")
    site = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    zipfile.ZipFile(wheel).extractall(site)  # what an installer does with a pure wheel
    return python


@pytest.fixture(scope="module")
def light(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and links to the packages that it needs."""
    folder = tmp_path_factory.mktemp("light")
    zipfile.ZipFile(wheel).extractall(folder)
    (ours,) = metadata.distributions(path=[str(folder)])
    for package in size.needed_packages(ours):
        for file in package.files or ():
            if ".." in file.parts or file.suffix == ".pyc":
                continue  # a script, or compiled by whoever uses it
            link = folder / file
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(file.locate())
    return folder


def test_the_wheel_is_as_large_as_its_marks_count_it(wheel: Path) -> None:
    files = [(Path(each.filename), each.file_size) for each in zipfile.ZipFile(wheel).infolist()]
    ours = [(file, length) for file, length in files if file.parts[0] == "mdmemory"]
    counted = size.measure()
    for suffix, length in size.sum_suffixes(ours).items():
        assert counted[f"wheel.{suffix}"] == length


def test_what_the_wheel_needs_is_enough_for_a_day_of_work_and_nothing_large(
    light: Path, repository: Path
) -> None:
    assert not {"numpy", "fastembed", "psycopg"} & {each.name for each in light.iterdir()}
    environment = {**os.environ, "PYTHONPATH": str(light)}
    for words in (
        "init", "add a --type feedback --description Tea Green.", "search tea", "list", "log",
        "log a -p", "compact", "mcp --help", "forget a", "undo", "doctor", "status",
    ):  # fmt: skip
        command = [sys.executable, "-S", "-P", "-m", "mdmemory", *words.split()]
        done = subprocess.run(
            command, cwd=repository, env=environment, capture_output=True, text=True, timeout=HUNG
        )
        assert (done.returncode, done.stderr) == (0, ""), words


def run(python: Path, *words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Far from the checkout; the dependencies are those of this environment."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    # entries of PYTHONPATH do not process .pth files, so that the editable checkout stays unseen
    env["PYTHONPATH"] = sysconfig.get_path("purelib")
    return subprocess.run(
        [str(python), *words], cwd=folder, env=env, capture_output=True, text=True, timeout=HUNG
    )


def test_the_wheel_holds_package_texts_and_type_marker_and_names_its_script_and_license(
    wheel: Path,
) -> None:
    archive, info = zipfile.ZipFile(wheel), f"{contents.STEM}-{VERSION}.dist-info"
    names = set(archive.namelist())
    assert names == contents.of_wheel(contents.sources(ROOT), VERSION)
    assert {"mdmemory/py.typed", "mdmemory/shipped/protocol/PROTOCOL.md"} <= names
    assert f"{info}/licenses/LICENSE" in names
    assert "mdmemory = mdmemory.cli:run" in archive.read(f"{info}/entry_points.txt").decode()
    metadata = archive.read(f"{info}/METADATA").decode()
    assert "License-Expression: MIT" in metadata
    assert "Requires-Python: >=3.11" in metadata


def test_the_wheel_brings_the_manual_page_and_the_completions_of_this_version(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    for place, wanted in contents.SHARED.items():
        made = run(Path(sys.executable), str(ROOT / "hatch_build.py"), wanted, folder=ROOT)
        shared = archive.read(f"{contents.STEM}-{VERSION}.data/data/share/{place}")
        assert shared.decode() == made.stdout


def test_the_installed_wheel_finds_its_texts_and_plays_the_demo(
    installed: Path, tmp_path: Path
) -> None:
    done = run(installed, "-P", "-m", "mdmemory", "--version", folder=tmp_path)
    assert (done.stdout, done.stderr) == (f"mdmemory {VERSION}\n", "")
    code = (
        "import mdmemory; from mdmemory import assets; print(mdmemory.__file__); "
        "print(assets.read('protocol/PROTOCOL.md'), end='')"
    )
    done = run(installed, "-P", "-c", code, folder=tmp_path)
    where, _, text = done.stdout.partition("\n")
    assert not Path(where).is_relative_to(ROOT)
    assert text == assets.read("protocol/PROTOCOL.md")
    done = run(installed, "-P", "-m", "mdmemory", "demo", "demo", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "demo/mdmemory/billing/feedback-prefers-pnpm.md").is_file()


def test_a_build_finds_what_its_frontend_put_on_its_path_alone(tmp_path: Path) -> None:
    # pip builds in a Python without packages, and names their folder to the first process alone
    venv.create(tmp_path / "bare", with_pip=False, symlinks=True)
    script = f"import sys; sys.path += [{str(ROOT)!r}, {sysconfig.get_path('purelib')!r}]\n" + (
        "from hatch_build import CustomBuildHook, PLACES\n"
        f"hook = CustomBuildHook({str(ROOT)!r}, {{}}, None, None, '', 'wheel')\n"
        "data = {'shared_data': {}}\n"
        "hook.initialize('standard', data)\n"
        "hook.finalize('standard', data, '')\n"
        "print(sorted(data['shared_data'].values()) == sorted(PLACES.values()))\n"
    )
    done = run(tmp_path / "bare/bin/python", "-c", script, folder=tmp_path)
    assert (done.stdout, done.stderr) == ("True\n", "")
