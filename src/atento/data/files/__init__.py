"""Files: bytes on disk or in archives, as text.

opening        a path to bytes or text, decompressed and decoded; errors for what is missing
foreign        files of other programs, pipes and devices, which are refused
encodings      bytes to text in UTF-8 or a legacy encoding
archives       zip archives, and paths inside them
image_names    which texts name images
"""
