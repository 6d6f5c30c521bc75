"""python -m atento is the command `atento`."""

from atento.cli.app import main

main()
