"""Default values of families that have none of their own: those of the family that steps as they do."""

import pytest

from atento.models.names import FAMILIES
from atento.tasks.catalogue import TASKS
from atento.tasks.filling import KIN, fill_defaults

MEASURED = {"rnn", "gru", "lstm", "transformer"}


def test_every_family_has_values_of_its_own_or_of_another():
    assert set(FAMILIES) == MEASURED | set(KIN)
    assert set(KIN.values()) <= MEASURED


@pytest.mark.parametrize("task", TASKS)
def test_a_family_learns_with_the_values_of_its_kin(task):
    """As wide and as long in every task, so that a comparison of the two compares the cells."""
    for data in ("own.csv", "numbers", "stories"):
        for words in ("", "+additive"):
            for family, kin in KIN.items():
                own, lent = (
                    fill_defaults(TASKS[task], {"model.name": f"{name}{words}"}, data=data) for name in (family, kin)
                )
                assert own.model.name == f"{family}{words}"
                assert own.model.model_copy(update={"name": lent.model.name}) == lent.model
                assert own.train == lent.train
