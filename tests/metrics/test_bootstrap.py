import json

from atento.metrics.bootstrap import by_length, examine, interval
from atento.metrics.text import CHRF2, EXACT

SOURCES = ["a", "bb", "ccc", "dddd"]
OUTPUTS = ["one", "two", "three", "five"]
REFERENCES = [["one"], ["two", "deux"], ["drei"], ["four"]]


def test_every_metric_and_the_first_against_length():
    found = examine((EXACT, CHRF2), SOURCES, [OUTPUTS], REFERENCES)
    assert (found["metric"], found["examples"]) == ("exact", 4)
    assert found["scores"]["exact"][0] == 0.5
    assert found["scores"]["chrf"] == list(interval(CHRF2, OUTPUTS, REFERENCES))
    assert found["lengths"] == [band.to_json() for band in by_length(EXACT, SOURCES, [OUTPUTS], REFERENCES)]
    assert json.loads(json.dumps(found)) == found
