"""Which files are pictures, and what stands beside each of them."""

from atento.data.evidence import Evidence
from atento.tasks.task import Recognition

NO = 0.0


def label_pictures(evidence: Evidence) -> Recognition:
    """Pictures and one of few labels beside each: classify-pictures."""
    return Recognition(NO, "there are no pictures")


def question_pictures(evidence: Evidence) -> Recognition:
    """Pictures, a question about each and its answer: match-pictures."""
    return Recognition(NO, "there are no pictures")
