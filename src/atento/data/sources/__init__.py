"""Sources: what a user names as data, as one table or as training, validation and test files.

reading     a file, parallel files, a folder or an archive to one table
splits      which files of a folder, or beside a file, are the training, validation and test data of one set
"""
