"""Sources: what a user names as data, as one table or as training, validation and test files.

splits      which files of a folder are the training, validation and test data of one set
reading     a file, parallel files, a folder or an archive to one table
siblings    validation and test files beside a training file, taken where they are of its kind
"""
