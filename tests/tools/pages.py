"""Waiting for what a page in a browser does in its own time."""

LOOKS, MILLISECONDS = 1200, 50  # a minute, on a machine that does other work


def wait_until(page, holds):
    """Until something holds; pages forbid the eval that playwright's own waiting for a condition uses."""
    for _ in range(LOOKS):
        if holds():
            return
        page.wait_for_timeout(MILLISECONDS)
    assert holds(), "the page never came to it"
