"""`--fix`: findings that know how to be mended, mended in the author's own text.

    spans.py        where every value of a JSON text begins and ends
    rewriting.py    edits -> the smallest changes of a JSON text that make them
    yaml_rewriting.py   the same of a YAML text, whose comments stay
    texts.py        which of the two a text is
    edited.py       the same edits of the value, which the changed text must read back as
    planning.py     which fixes of a file help, found out by checking the result
    writing.py      all of the new text on disk, or none of it
    disk.py         which file a name stands for, and whether it may be written

    {"url": "x",            Edit(pointer="/url", value=None)            {
     "id": "a"}             ------------------------------->             "id": "a"}

What no edit touches stays byte for byte as the author wrote it.
"""
