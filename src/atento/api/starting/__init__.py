"""How a run begins.

opening     its folder: chosen, opened, or found as it was left, to go on
moved       data that lies elsewhere than when the run began
warm_start  first weights from another run
launch      as many processes as there are devices
"""
