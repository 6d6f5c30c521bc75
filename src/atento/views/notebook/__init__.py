"""What a notebook shows of results, views and modules.

display    `notebook_html`: any of them as static HTML, from the same parts as its page
inside     static pages of what scripts show in a browser: attention maps, matrices, units, positions, tokens
modules    attention modules: their composition, shapes, parameters and extent
results    a table of scores: of an evaluation, a search or a backtest
pictures   a small heat map and a chart of lines as SVG, for both light and dark
progress   the progress of training with its loss curves
widget     the attention viewer as an anywidget (extra `notebook`)
"""
