"""Exported folders that a release has written are loaded by every later version, and answer as they did then."""

import json
from pathlib import Path

import pytest

from atento.exporting.runtime.model import ExportedModel

PLACE = Path(__file__).parents[1] / "fixtures" / "exported"
CASES = [
    (release.parent, name, expected)
    for release in sorted(PLACE.glob("*/expected.json"))
    for name, expected in json.loads(release.read_text(encoding="utf-8")).items()
]


@pytest.mark.parametrize("release, name, expected", CASES, ids=[f"{case[0].name} {case[1]}" for case in CASES])
def test_a_kept_folder_answers_as_it_did(release, name, expected):
    answers = ExportedModel(release / name, threads=1).answer(expected["asked"])
    assert [one.text for one in answers] == [text for text, _ in expected["answers"]]
    assert [one.score for one in answers] == pytest.approx([score for _, score in expected["answers"]], abs=1e-5)


def test_this_version_has_left_its_own():
    assert len(CASES) >= 2
