"""`--fix`: applies the fixes of findings in the author's own text.

    planning.py     finds the fixes that help, by checking the result
    writing.py      all of the new text on disk, or none of it
    disk.py         the identity of a file, and whether it may be written

The edits of the fixes are made by `oas_compiler/rewriting/`: text that no edit changes stays byte
for byte as the author wrote it.
"""
