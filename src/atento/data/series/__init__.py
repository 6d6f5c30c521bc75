"""Series: numbers at equal distances in time."""

from atento.data.series.series import Past, Series, SeriesSet, Step

__all__ = ["Past", "Series", "SeriesSet", "Step"]
