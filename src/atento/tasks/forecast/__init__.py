"""The task that forecasts series."""
