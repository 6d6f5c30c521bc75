"""Export: a trained run as a folder that other programs can use.

export     the whole story: what can be exported, graphs made, checked and written
graphs     the graphs that a model is exported as
tracing    graphs to ONNX and torch programs, and the check of what came out
describing what a folder says of its model: export.json, its card, its README
int8       smaller weights, and what they cost
ctranslate CTranslate2, for models that it can express
runner     the short program that a folder holds
folder     the files of an exported folder and their manifest
runtime    exported models at work, without torch
"""
