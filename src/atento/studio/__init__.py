"""The studio: a web application on this machine in which everything of the command line can be clicked.

app           the routes: what is asked, and the part of the program that answers
workspace     the folder that the studio works in: files, names that requests may use, runs
asking        what the bodies of requests hold, and the command, TOML and Python that do the same
inspecting    what a file is, the recipe it would be trained with, the models there are
running       runs: their state, their events, starting, pausing and finishing them
uploads       dropped files
trained       trained models in memory, and what is asked of them
looking       what a trained model shows: answers, attention, views as pages
mistakes      where a model is wrong
jobs          training as processes of their own, which outlive the server
web/          the page: HTML, style and ES modules
"""
