"""A head with nothing below it is a regression: the very one that scikit-learn fits."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import LinearRegression, LogisticRegression

from atento.errors import InputError
from atento.layers import l2_penalty
from atento.models import LabelHead, MultiLabelHead, RegressionHead

ITEMS, FEATURES, LABELS = 101, 5, 3


def trained(head, features, truth, *, strength=0.0):
    """To the very bottom of its cost."""
    descent = torch.optim.LBFGS(
        head.parameters(), max_iter=1000, tolerance_grad=1e-11, tolerance_change=0, line_search_fn="strong_wolfe"
    )

    def cost():
        descent.zero_grad()
        value = head.loss(head(features), truth).mean + strength * l2_penalty(head)
        value.backward()
        return value

    descent.step(cost)
    return head


def noisy_labels():
    features = torch.randn(ITEMS, FEATURES)
    probabilities = (features @ torch.randn(FEATURES, LABELS)).softmax(dim=-1)
    return features, torch.multinomial(probabilities, 1).squeeze(1)


@pytest.mark.spec("B05")
@pytest.mark.parametrize("freedom", [0.1, 10.0])
def test_no_hidden_layer_is_logistic_regression(freedom):
    """Scikit-learn's cost is C Σ loss + ½ ‖w‖²: a strength of 1 / (2 C n) on the mean loss."""
    features, truth = noisy_labels()
    head = trained(LabelHead(FEATURES, LABELS), features, truth, strength=1 / (2 * freedom * ITEMS))
    theirs = LogisticRegression(C=freedom, tol=1e-10, max_iter=10_000).fit(features.numpy(), truth.numpy())
    np.testing.assert_allclose(head.map.weight.detach().numpy(), theirs.coef_, atol=1e-5)
    probabilities = head(features).softmax(dim=-1).detach().numpy()
    np.testing.assert_allclose(probabilities, theirs.predict_proba(features.numpy()), atol=1e-6)
    assert head.predict(head(features)).tolist() == theirs.predict(features.numpy()).tolist()


@pytest.mark.spec("B05", "L04")
def test_each_label_of_a_set_is_a_logistic_regression_by_itself():
    """One head for all labels is as many regressions, side by side: no label changes another's."""
    features = torch.randn(ITEMS, FEATURES)
    truth = (features @ torch.randn(FEATURES, LABELS) + torch.randn(ITEMS, LABELS) > 0).long()
    strength = 1 / (2 * ITEMS * LABELS)  # the mean is over all labels of all items
    head = trained(MultiLabelHead(FEATURES, LABELS), features, truth, strength=strength)
    for label in range(LABELS):
        theirs = LogisticRegression(tol=1e-10, max_iter=10_000).fit(features.numpy(), truth[:, label].numpy())
        np.testing.assert_allclose(head.map.weight[label].detach().numpy(), theirs.coef_[0], atol=1e-5)
        np.testing.assert_allclose(head.map.bias[label].item(), theirs.intercept_[0], atol=1e-5)
        answers = head.predict(head(features))[:, label].long().tolist()
        assert answers == theirs.predict(features.numpy()).tolist()


@pytest.mark.spec("B05")
def test_no_hidden_layer_is_linear_regression():
    features, truth = torch.randn(ITEMS, FEATURES) + 2, torch.randn(ITEMS, LABELS)
    head = trained(RegressionHead(FEATURES, LABELS), features, truth)
    theirs = LinearRegression().fit(features.numpy(), truth.numpy())
    np.testing.assert_allclose(head.map.weight.detach().numpy(), theirs.coef_, atol=1e-7)
    np.testing.assert_allclose(head.map.bias.detach().numpy(), theirs.intercept_, atol=1e-7)
    np.testing.assert_allclose(head.predict(head(features)).detach().numpy(), theirs.predict(features), atol=1e-7)


def test_answers_by_hand():
    assert LabelHead(1, 3).predict(torch.tensor([[0.1, 2.0, -1.0], [5.0, 4.0, 4.9]])).tolist() == [1, 0]
    assert MultiLabelHead(1, 3).predict(torch.tensor([[0.1, -2.0, 0.0]])).tolist() == [[True, False, False]]
    assert RegressionHead(1, 2).predict(torch.tensor([[0.1, -2.0]])).tolist() == [[0.1, -2.0]]


@pytest.mark.parametrize("size, width, found", [(0, 3, "size=0"), (3, 0, "width=0")])
def test_a_head_reads_and_says_something(size, width, found):
    for head in (LabelHead, MultiLabelHead, RegressionHead):
        with pytest.raises(InputError, match=found):
            head(size, width)


@pytest.mark.spec("L04")
def test_a_label_is_said_above_its_own_threshold():
    head = MultiLabelHead(4, 3)
    outputs = torch.tensor([[0.0, 1.0, -1.0], [2.0, -3.0, 0.1]])
    assert head.predict(outputs).tolist() == [[False, True, False], [True, False, True]]
    head.set_thresholds(torch.tensor([0.4, 0.8, 0.2]))
    probabilities = outputs.sigmoid()
    assert torch.equal(
        head.predict(outputs),
        torch.stack([probabilities[:, 0] > 0.4, probabilities[:, 1] > 0.8, probabilities[:, 2] > 0.2], 1),
    )
    again = MultiLabelHead(4, 3)
    again.load_state_dict(head.state_dict())
    assert torch.equal(again.thresholds, head.thresholds)


def test_weights_are_for_learning_alone():
    for head, truth in ((LabelHead(4, 3), torch.tensor([2, 0])), (MultiLabelHead(4, 3), torch.eye(3)[:2])):
        outputs = torch.randn(2, 3)
        plain = head.loss(outputs, truth).total
        head.set_class_weights(torch.tensor([2.0, 2.0, 2.0]))
        assert head.loss(outputs, truth).total > plain
        assert "weights" not in head.state_dict()
