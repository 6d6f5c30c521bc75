"""Three networks whose weights are written down, not learned: they cook by the rules of `atento.data.builtin.probes`.

Vectors are columns. A dish is one of three ones, (1 0 0) pie, (0 1 0) burger, (0 0 1) chicken; the weather one of two,
(1 0) sunny, (0 1) rainy. Every network takes the first dish (B, 3) and the weather (B, T, 2), and gives the dishes."""

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn

# Axes: B batch, T days.

WEATHER = ((1.0, 0.0), (0.0, 1.0), (0.0, 0.0))  # sunny -> pie, rainy -> burger
ROTATION = ((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0))  # pie -> burger -> chicken -> pie
SAME = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
FOOD_AND_NEXT = SAME + ROTATION  # 6 × 3: the same dish above, the next one below
SUN_AND_RAIN = ((1.0, 0.0),) * 3 + ((0.0, 1.0),) * 3  # 6 × 2: the sun speaks for the upper half, the rain for the lower
REACHED = 2.0  # only where a dish and the weather agree


class Cook(nn.Module, ABC):
    """first (B, 3), weather (B, T, 2) -> dishes (B, T, 3): one `day` after another."""

    def forward(self, first: Tensor, weather: Tensor) -> Tensor:
        """Walk through the days."""
        dishes = [first]
        for day in range(weather.size(1)):
            dishes.append(self.day(dishes[-1], weather[:, day]))
        return torch.stack(dishes[1:], dim=1)

    @abstractmethod
    def day(self, dish: Tensor, weather: Tensor) -> Tensor:
        """Yesterday's dish (B, 3) and today's weather (B, 2) -> today's dish (B, 3)."""


class FollowsWeather(Cook):
    """The first rule, a single layer: y_t = W x_t. It remembers nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.weather: Tensor
        self.register_buffer("weather", torch.tensor(WEATHER))

    def day(self, dish: Tensor, weather: Tensor) -> Tensor:
        """W x."""
        return weather @ self.weather.mT


class Rotates(Cook):
    """The second rule, an output that feeds back: y_t = R y_{t−1}."""

    def __init__(self) -> None:
        super().__init__()
        self.rotation: Tensor
        self.register_buffer("rotation", torch.tensor(ROTATION))

    def day(self, dish: Tensor, weather: Tensor) -> Tensor:
        """R y."""
        return dish @ self.rotation.mT


class RotatesInRain(Cook):
    """The third rule: h_t = step(F y_{t−1} + W x_t), 1 where a sum reaches 2 and 0 elsewhere; y_t folds 6 to 3."""

    def __init__(self) -> None:
        super().__init__()
        self.food: Tensor
        self.weather: Tensor
        self.register_buffer("food", torch.tensor(FOOD_AND_NEXT))
        self.register_buffer("weather", torch.tensor(SUN_AND_RAIN))

    def day(self, dish: Tensor, weather: Tensor) -> Tensor:
        """Add, keep what reaches 2, fold the halves onto each other."""
        summed = dish @ self.food.mT + weather @ self.weather.mT  # (B, 6)
        kept = (summed >= REACHED).to(dish.dtype)
        return kept[:, :3] + kept[:, 3:]
