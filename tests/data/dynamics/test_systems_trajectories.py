"""Trajectories against scipy's other integrator, a fixed-step reference, and solutions known in closed form."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from atento.data.dynamics import Lorenz, Rossler, trajectory
from atento.errors import InputError

STARTS = {Rossler(): (1.0, 2.0, 0.5), Lorenz(): (1.0, 2.0, 20.0)}


def rossler_rates(state, a=0.2, b=0.2, c=5.7):
    return np.array([-state[1] - state[2], state[0] + a * state[1], b + state[2] * (state[0] - c)])


def lorenz_rates(state, sigma=10.0, rho=28.0, beta=8 / 3):
    x, y, z = state
    return np.array([sigma * (y - x), x * (rho - z) - y, x * y - beta * z])


def by_runge_kutta(rates, start, *, step, steps, inner):
    """The classical fourth-order formula, `inner` times a row."""
    states, state, h = [np.asarray(start)], np.asarray(start), step / inner
    for _ in range(steps - 1):
        for _ in range(inner):
            first = rates(state)
            second = rates(state + h / 2 * first)
            third = rates(state + h / 2 * second)
            fourth = rates(state + h * third)
            state = state + h / 6 * (first + 2 * second + 2 * third + fourth)
        states.append(state)
    return np.stack(states)


@pytest.mark.spec("D01")
@pytest.mark.parametrize(
    "flow, rates", [(Rossler(), rossler_rates), (Lorenz(), lorenz_rates)], ids=["rossler", "lorenz"]
)
def test_the_same_numbers_as_two_other_integrators(flow, rates):
    steps, step = 101, 0.05
    found = trajectory(flow, STARTS[flow], step=step, steps=steps)
    theirs = solve_ivp(
        flow, (0, step * steps), STARTS[flow], method="DOP853", rtol=1e-12, atol=1e-12, t_eval=step * np.arange(steps)
    )
    assert found.shape == (steps, 3)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, theirs.y.T, atol=2e-5)
    np.testing.assert_allclose(found, by_runge_kutta(rates, STARTS[flow], step=step, steps=steps, inner=20), atol=1e-3)


@pytest.mark.spec("D01")
def test_any_function_of_time_and_state():
    def swing(time, state):
        return state[1], -state[0] + 0.5 * np.cos(2 * time)

    times = 0.1 * np.arange(83)
    exact = 7 / 6 * np.cos(times) - 1 / 6 * np.cos(2 * times)  # x'' + x = cos(2t)/2, x(0) = 1, x'(0) = 0
    found = trajectory(swing, (1.0, 0.0), step=0.1, steps=83)
    np.testing.assert_allclose(found[:, 0], exact, atol=1e-7)


def test_time_that_passes_before_the_first_row():
    late = trajectory(Lorenz(), (1.0, 2.0, 20.0), step=0.02, steps=7, settle=1.0)
    whole = trajectory(Lorenz(), (1.0, 2.0, 20.0), step=0.02, steps=57)
    np.testing.assert_allclose(late, whole[50:], rtol=1e-6)


@pytest.mark.parametrize(
    "arguments, problem",
    [
        ({"start": (1.0, 2.0)}, "1 rates for 2 coordinates"),
        ({"start": (1.0, np.nan, 2.0)}, "finite numbers"),
        ({"step": 0.0}, "step must be above 0"),
        ({"steps": 0}, "steps must be above 0"),
        ({"settle": -1.0}, "settle"),
    ],
)
def test_what_cannot_be_integrated_is_named(arguments, problem):
    def flow(time, state):
        return [state[0]] if len(state) == 2 else state

    with pytest.raises(InputError, match=problem):
        trajectory(flow, **{"start": (1.0, 2.0, 3.0), "step": 0.1, "steps": 3, **arguments})


def test_a_trajectory_that_goes_to_infinity_is_named():
    with pytest.raises(InputError, match="goes to infinity"):
        trajectory(lambda time, state: state**2, (1.0,), step=0.1, steps=30)  # 1 / (1 − t)
