"""Time series: numbers at equal time steps.

series: what a set of series is; reading: a file to a set of series. Its steps: typed_table, numbers, timestamps and
time_columns read cells; columns finds the role of each column, by names in column_words; grid sorts rows and lays them
on equal time steps; cleaning refuses or fills what is missing; covariates, seasons and frequency describe the result.
"""

from atento.data.series.reading import read_series
from atento.data.series.series import Frequency, Past, Series, SeriesSet

__all__ = ["Frequency", "Past", "Series", "SeriesSet", "read_series"]
