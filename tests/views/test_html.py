import json
import re

import pytest

from atento.views.html import Markup, embed, escape, tag


def test_text_is_escaped_and_markup_is_not():
    assert tag("p", "a < b & c", tag("b", "d")) == "<p>a &lt; b &amp; c<b>d</b></p>"


def test_attributes_are_escaped_named_and_left_out():
    element = tag("td", class_='x" onclick="evil', aria_label="a & b", colspan=3, open=True, hidden=False, id=None)

    assert element == '<td class="x&quot; onclick=&quot;evil" aria-label="a &amp; b" colspan="3" open></td>'


@pytest.mark.parametrize("number, text", [(1.0, "1"), (2.345, "2.35"), (0.1, "0.1"), (100.0, "100"), (3, "3")])
def test_numbers_in_attributes_are_short(number, text):
    assert tag("rect", x=number) == f'<rect x="{text}"></rect>'


def test_characters_no_file_can_hold_are_replaced():
    assert escape("a\ud800b\x00c\x1bd") == "a?b\ufffdc\ufffdd"


def test_markup_stays_as_it_is():
    assert escape(Markup("<b>")) == "<b>"


HOSTILE = "</script><!--<script>&amp;\u2028\u2029\ud83d'\""


def test_embedded_data_cannot_end_its_script_and_comes_back_whole():
    element = embed({"text": HOSTILE}, name="data")
    inside = re.fullmatch(r'<script type="application/json" id="data">(.*)</script>', element).group(1)

    assert not set("<>&\u2028\u2029") & set(inside)
    assert json.loads(inside) == {"text": HOSTILE}


def test_no_number_that_json_lacks_is_embedded():
    with pytest.raises(ValueError, match="JSON"):
        embed(float("nan"), name="data")
