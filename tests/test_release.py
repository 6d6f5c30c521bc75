"""What a release is made of: wheel and sdist, the same bytes from the same sources, and pins for all it needs."""

import hashlib
import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def build(root, out, *, kinds=("sdist", "wheel"), **env):
    """Wheel and sdist of the sources in a folder, as `make dist` builds them."""
    wanted = [word for kind in kinds for word in ("--target", kind)]
    command = [sys.executable, "-m", "hatchling", "build", *wanted, "--directory", str(out)]
    subprocess.run(command, cwd=root, env={**os.environ, **env}, check=True, capture_output=True)
    return {path.suffix: path for path in Path(out).iterdir()}


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return build(ROOT, tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def unpacked(built, tmp_path_factory):
    """The sdist in another folder; its files are of this minute, and only their owner may read them."""
    place = tmp_path_factory.mktemp("elsewhere")
    with tarfile.open(built[".gz"]) as archive:
        archive.extractall(place, filter="data")
    root = next(place.iterdir())
    for path in root.rglob("*"):
        os.utime(path)
        path.chmod(0o700 if path.is_dir() else 0o600)
    return root


def test_built_elsewhere_and_later_the_bytes_are_the_same(built, unpacked, tmp_path):
    again = build(unpacked, tmp_path / "again", TZ="Asia/Tokyo", LC_ALL="C")
    assert {kind: digest(path) for kind, path in again.items()} == {kind: digest(path) for kind, path in built.items()}


def test_the_time_of_a_release_can_be_chosen(built, unpacked, tmp_path):
    """SOURCE_DATE_EPOCH, as builders of distributions set it."""
    chosen = build(unpacked, tmp_path, kinds=("wheel",), SOURCE_DATE_EPOCH="1700000000")
    assert digest(chosen[".whl"]) != digest(built[".whl"])
    with zipfile.ZipFile(chosen[".whl"]) as wheel:
        assert {info.date_time[:3] for info in wheel.infolist()} == {(2023, 11, 14)}


def test_the_wheel_runs_from_wherever_it_is_installed(built, tmp_path):
    target = tmp_path / "site"
    options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--no-index", "--target", str(target)]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, str(built[".whl"])], check=True)
    code = "import atento, json; print(json.dumps([atento.__file__, atento.__version__]))"
    env = {**os.environ, "PYTHONPATH": str(target)}
    said = subprocess.check_output([sys.executable, "-c", code], cwd=tmp_path, env=env, text=True)
    assert json.loads(said) == [str(target / "atento" / "__init__.py"), version()]
    shown = subprocess.check_output([sys.executable, "-m", "atento", "data"], cwd=tmp_path, env=env, text=True)
    assert "numbers" in shown


def version():
    text = (ROOT / "src" / "atento" / "version.py").read_text(encoding="utf-8")
    return re.search(r'__version__.* = "(.*)"', text)[1]


def test_the_wheel_holds_the_package_and_nothing_else(built):
    with zipfile.ZipFile(built[".whl"]) as wheel:
        names = wheel.namelist()
        metadata = wheel.read(next(name for name in names if name.endswith("/METADATA"))).decode()
        tags = wheel.read(next(name for name in names if name.endswith("/WHEEL"))).decode()
    assert {name.split("/")[0] for name in names} == {"atento", f"atento-{version()}.dist-info"}
    source = ROOT / "src"
    held = {str(path.relative_to(source)) for path in source.rglob("*") if path.is_file() and path.suffix != ".pyc"}
    assert held == {name for name in names if name.startswith("atento/")}
    assert {"atento/py.typed", "atento/studio/web/index.html"} <= held
    assert "Tag: py3-none-any" in tags, "a compiler would be needed"
    assert f"Version: {version()}" in metadata and "License-Expression: Apache-2.0" in metadata


def test_the_sdist_holds_what_builds_tests_and_explains_it(built):
    with tarfile.open(built[".gz"]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {
        "pyproject.toml",
        "constraints.txt",
        "Makefile",
        "README.md",
        "LICENSE",
        "SECURITY.md",
        "CITATION.cff",
    } <= names
    assert {"tests/conftest.py", "docs/index.md", "src/atento/py.typed"} <= names
    assert not [name for name in names if "__pycache__" in name or name.startswith(("runs/", "site/", ".venv"))]


def needed(wanted):
    """Every package that an installation takes here, by the metadata of those that are installed."""
    found, todo = set(), [(Requirement(line), "") for line in wanted]
    while todo:
        one, extra = todo.pop()
        name = canonicalize_name(one.name)
        if (one.marker is not None and not one.marker.evaluate({"extra": extra})) or name == "atento":
            continue
        key = (name, *sorted(one.extras))
        if key in found:
            continue
        found.add(key)
        try:
            inside = distribution(one.name).requires or []
        except PackageNotFoundError:
            continue  # of another system, or of an environment without this extra
        todo += [(Requirement(line), extra) for line in inside for extra in (one.extras or {""})]
        todo += [(Requirement(line), "") for line in inside]
    return {key[0] for key in found}


def test_everything_that_is_installed_is_pinned():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = dict(line.split("==") for line in lines if not line.startswith("#"))
    assert lines[0].startswith("#") and lines[1].startswith("torch==")
    assert all(re.fullmatch(r"\d[\w.]*", number) for number in pins.values())
    extras = [line for lines in PROJECT["optional-dependencies"].values() for line in lines]
    wanted = needed([*PROJECT["dependencies"], *extras])
    assert len(wanted) > 100
    assert not wanted - {canonicalize_name(name) for name in pins}, "run `make pins`"


def test_the_version_and_the_citation_agree():
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"version: {version()}\n" in cited and "license: Apache-2.0" in cited
    assert version() in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_what_the_project_says_of_itself():
    said = set(PROJECT["classifiers"])
    assert {f"Programming Language :: Python :: 3.{minor}" for minor in (11, 12, 13, 14)} <= said
    assert {"Typing :: Typed", "Operating System :: Microsoft :: Windows", "Operating System :: MacOS"} <= said
    assert PROJECT["requires-python"] == ">=3.11"


def test_the_workflow_covers_the_systems_and_pins_its_actions():
    text = (ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8")
    for wanted in ("ubuntu-", "macos-", "windows-", '"3.11"', '"3.12"', '"3.13"', '"3.14"', '"2.11.0"'):
        assert wanted in text
    used = re.findall(r"uses: (\S+)", text)
    assert used and all(re.fullmatch(r"[\w./-]+@v\d+(\.\d+)*", action) for action in used)
    assert "secrets." not in text and "contents: read" in text
