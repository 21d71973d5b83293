"""`--fix`: applies the fixes of findings in the author's own text.

    spans.py        where every value of a JSON text begins and ends
    rewriting.py    edits -> the smallest changes of a JSON text that make them
    yaml_rewriting.py   the same for a YAML text, whose comments stay
    texts.py        tells JSON texts and YAML texts apart
    edited.py       the same edits on the value; the changed text must decode to it
    planning.py     finds the fixes that help, by checking the result
    writing.py      all of the new text on disk, or none of it
    disk.py         the identity of a file, and whether it may be written

    {"url": "x",            Edit(pointer="/url", value=None)            {
     "id": "a"}             ------------------------------->             "id": "a"}

Text that no edit changes stays byte for byte as the author wrote it.
"""
