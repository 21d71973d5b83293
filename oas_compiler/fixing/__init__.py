"""`--fix`: findings that know how to be mended, mended in the author's own text.

    spans.py        where every value of a JSON text begins and ends
    rewriting.py    edits -> the smallest changes of the text that make them
    planning.py     which fixes of a file help, found out by checking the result
    writing.py      all of the new text on disk, or none of it
    disk.py         which file a name stands for, and whether it may be written

    {"url": "x",            Edit(pointer="/url", value=None)            {
     "id": "a"}             ------------------------------->             "id": "a"}

Only JSON is changed; what no edit touches stays byte for byte as the author wrote it.
"""
