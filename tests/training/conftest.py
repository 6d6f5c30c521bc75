import pytest

from atento.spec import Recipe


@pytest.fixture
def whole_recipe():
    """A recipe with other training values."""
    return lambda **values: Recipe().with_values({f"train.{key}": value for key, value in values.items()})
