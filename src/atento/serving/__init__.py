"""A trained model that answers other programs: `atento serve RUN`.

served      what a server needs of a model, whatever computes it
trained     the same of the folder of a run, with torch
exported    the same of an exported folder, without torch
rows        what both share: rows together, one by one, or piece by piece
sources     rows of requests as the sources of a task
answers     answers as JSON
worker      the process that holds a model, and frames, the messages to it
process     the server's end of that process
dispatcher  the queue, batches of what waits, replacement and exchange of the model
schema      the types of rows and answers, and documents, the OpenAPI document of them
app         the routes
limits      how much is taken
metrics     what is counted
"""
