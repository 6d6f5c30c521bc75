"""Patches of windows and horizons, cut by hand."""

import pytest
import torch

from atento.models import SeriesSizes
from atento.models.forecast_networks import HorizonQueries, PatchEmbedding, PatchHead

ROWS, PAST, HORIZON, CHANNELS, COVARIATES, SIZE = 3, 13, 11, 2, 5, 7
SIZES = SeriesSizes(CHANNELS, COVARIATES, PAST, HORIZON)


@pytest.mark.parametrize("patch, starts", [(5, [-2, 3, 8]), (4, [-3, 1, 5, 9]), (13, [0]), (1, [*range(13)])])
def test_patches_of_the_past_end_with_it(patch, starts):
    """The first patch is filled up with zeros; each patch is channel by channel, its steps in order."""
    embedding = PatchEmbedding(SIZES, patch, SIZE)
    past, known = torch.randn(ROWS, PAST, CHANNELS), torch.randn(ROWS, PAST, COVARIATES)
    found = embedding(past, known)
    assert found.shape == (ROWS, len(starts), SIZE)
    assert embedding.patches == len(starts)
    numbers = torch.cat([past, known], dim=-1)
    for row in range(ROWS):
        for place, start in enumerate(starts):
            patch_values = [
                numbers[row, time, feature] if time >= 0 else torch.tensor(0.0)
                for feature in range(CHANNELS + COVARIATES)
                for time in range(start, start + patch)
            ]
            expected = embedding.map.weight @ torch.stack(patch_values) + embedding.map.bias
            torch.testing.assert_close(found[row, place], expected, rtol=0, atol=1e-12)


def test_questions_know_their_place_and_what_is_known_of_it():
    queries = HorizonQueries(SIZES, 4, SIZE)
    known = torch.randn(ROWS, HORIZON, COVARIATES)
    found = queries(known)
    for row in range(ROWS):
        for place in range(3):
            patch_values = [
                known[row, time, feature] if time < HORIZON else torch.tensor(0.0)
                for time in range(4 * place, 4 * place + 4)
                for feature in range(COVARIATES)
            ]
            expected = queries.places[place] + queries.map.weight @ torch.stack(patch_values)
            torch.testing.assert_close(found[row, place], expected, rtol=0, atol=1e-12)
    bare = HorizonQueries(SIZES._replace(covariates=0), 4, SIZE)
    assert torch.equal(bare(known[..., :0])[1], bare.places)


def test_what_is_written_beyond_the_horizon_is_left_out():
    head = PatchHead(SIZES, 4, SIZE, quantiles=3)
    torch.nn.init.normal_(head.map.weight)
    features = torch.randn(ROWS, 3, SIZE)
    found = head(features)
    assert found.shape == (ROWS, HORIZON, CHANNELS, 3)
    for time in range(HORIZON):
        steps = (features[:, time // 4] @ head.map.weight.mT).view(ROWS, 4, CHANNELS, 3)
        torch.testing.assert_close(found[:, time], steps[:, time % 4], rtol=0, atol=1e-12)
