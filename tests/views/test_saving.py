import json

import pytest

from atento.errors import InputError
from atento.views.saving import save_view

VIEW = {"größe": 7}


def saved(path):
    return save_view(
        VIEW, path, page=lambda view: f"<p>{view['größe']}</p>", picture=lambda view, place: place.write_bytes(b"drawn")
    )


def test_the_name_says_what_is_written(tmp_path):
    assert saved(tmp_path / "a.html").read_text(encoding="utf-8") == "<p>7</p>"
    assert json.loads(saved(str(tmp_path / "a.JSON")).read_text(encoding="utf-8")) == VIEW
    for kind in ("png", "svg", "pdf"):
        assert saved(tmp_path / f"a.{kind}").read_bytes() == b"drawn"


def test_another_name_is_refused_with_those_that_could_be(tmp_path):
    with pytest.raises(InputError, match=r"must end in one of these.*\n.*a\.gif\n.*\.html, \.png"):
        saved(tmp_path / "a.gif")
    assert not list(tmp_path.iterdir())
