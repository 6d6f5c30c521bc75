"""Exported models at work, by numpy and onnxruntime alone: nothing here imports torch.

model      a folder to answers, for files, lines and servers
files      the sources of a file
served     rows and answers as JSON, as a server exchanges them
series     forecasts and windows
writing    texts that are written or continued
judged     labels, numbers and tags
sources    sources to arrays
search     greedy search, beam search and sampling
graphs     the graphs of a folder
"""
