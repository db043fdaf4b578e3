"""The retrieval tasks.

tasks      the dossier of index, associative recall, c-gram retrieval or counting, with its texts; models: all four tasks' models
searches   what their searches find: patterns beside the definitions
"""
