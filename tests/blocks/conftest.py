import pytest
import torch


@pytest.fixture(autouse=True)
def exact():
    """Float64 and the same chance for every test here."""
    torch.manual_seed(0)
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)
