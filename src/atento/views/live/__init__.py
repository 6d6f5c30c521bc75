"""Live pictures: figures whose frames Python computes and a slider chooses, for lessons, talks and notebooks.

    panels     what a frame holds: lines, points in the plane, bars, a heat map, rows of labelled cells, a sentence
    picture    the frames of all slider positions, as a page that works offline, a figure or a notebook's output
    figure     one frame drawn by matplotlib

A text is given in English; `words` of a picture translates it for a page in another language.
"""

from atento.views.live.panels import Bars, Cells, HeatMap, Lines, Note, Plane
from atento.views.live.picture import LivePicture, Slider

__all__ = ["Bars", "Cells", "HeatMap", "Lines", "LivePicture", "Note", "Plane", "Slider"]
