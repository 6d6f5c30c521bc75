import json
from dataclasses import dataclass

import numpy as np
import pytest

from atento.errors import InputError
from atento.views import ModelView
from atento.views.saving import rounded, save_view


@dataclass(frozen=True, kw_only=True)
class Sized(ModelView):
    größe: int


VIEW = Sized(model="gru", größe=7)


def saved(path):
    return save_view(
        VIEW, path, page=lambda view: f"<p>{view.größe}</p>", figure=lambda view, place: place.write_bytes(b"drawn")
    )


def test_the_name_says_what_is_written(tmp_path):
    assert saved(tmp_path / "a.html").read_text(encoding="utf-8") == "<p>7</p>"
    assert json.loads(saved(str(tmp_path / "a.JSON")).read_text(encoding="utf-8")) == {"model": "gru", "größe": 7}
    for kind in ("png", "svg", "pdf"):
        assert saved(tmp_path / f"a.{kind}").read_bytes() == b"drawn"


def test_another_name_is_refused_with_those_that_could_be(tmp_path):
    with pytest.raises(InputError, match=r"must end in .html or .png.*\n.*a\.gif\n.*name it .*a\.html"):
        saved(tmp_path / "a.gif")
    assert not list(tmp_path.iterdir())


def test_numbers_have_five_digits():
    assert rounded(np.array([1234.56789, 0.04])) == [1234.6, 0.0]
    assert rounded(np.array([0.0123456])) == [0.012346] and rounded(np.zeros(0)) == []
