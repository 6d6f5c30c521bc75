"""Three networks with hand-written weights that follow the rules of the cook in `atento.data.builtin.probes`.

Dish and weather are one-hot columns: (1 0 0) pie, (0 1 0) burger, (0 0 1) chicken; (1 0) sunny, (0 1) rainy. Every
network takes the first dish (B, 3) and the weather (B, T, 2), and returns the dishes (B, T, 3).
"""

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn

# Axes: B batch, T days.

WEATHER = ((1.0, 0.0), (0.0, 1.0), (0.0, 0.0))  # sunny -> pie, rainy -> burger
ROTATION = ((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0))  # pie -> burger -> chicken -> pie
IDENTITY = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
SAME_AND_NEXT_DISH = IDENTITY + ROTATION  # 6 × 3
SUN_AND_RAIN = ((1.0, 0.0),) * 3 + ((0.0, 1.0),) * 3  # 6 × 2: sun selects the same dish, rain the next
THRESHOLD = 2.0  # reached only where dish and weather agree


class Cook(nn.Module, ABC):
    """first (B, 3), weather (B, T, 2) -> dishes (B, T, 3), day by day."""

    def forward(self, first: Tensor, weather: Tensor) -> Tensor:
        """The dishes of all days."""
        dishes = [first]
        for day in range(weather.size(1)):
            dishes.append(self.day(dishes[-1], weather[:, day]))
        return torch.stack(dishes[1:], dim=1)

    @abstractmethod
    def day(self, dish: Tensor, weather: Tensor) -> Tensor:
        """Yesterday's dish (B, 3) and today's weather (B, 2) -> today's dish (B, 3)."""


class FollowsWeather(Cook):
    """The first rule, a single layer without memory: y_t = W x_t."""

    def __init__(self) -> None:
        super().__init__()
        self.weather = nn.Buffer(torch.tensor(WEATHER))

    def day(self, dish: Tensor, weather: Tensor) -> Tensor:
        """W x."""
        return weather @ self.weather.mT


class Rotates(Cook):
    """The second rule, an output that is fed back: y_t = R y_{t−1}."""

    def __init__(self) -> None:
        super().__init__()
        self.rotation = nn.Buffer(torch.tensor(ROTATION))

    def day(self, dish: Tensor, weather: Tensor) -> Tensor:
        """R y."""
        return dish @ self.rotation.mT


class RotatesInRain(Cook):
    """The third rule: h_t = step(F y_{t−1} + W x_t), 1 where a sum reaches 2 and 0 elsewhere; y_t adds its halves."""

    def __init__(self) -> None:
        super().__init__()
        self.food = nn.Buffer(torch.tensor(SAME_AND_NEXT_DISH))
        self.weather = nn.Buffer(torch.tensor(SUN_AND_RAIN))

    def day(self, dish: Tensor, weather: Tensor) -> Tensor:
        """Step function of the sum, then the sum of both halves."""
        summed = dish @ self.food.mT + weather @ self.weather.mT  # (B, 6)
        kept = (summed >= THRESHOLD).to(dish.dtype)
        return kept[:, :3] + kept[:, 3:]
