"""Changes values of a text in place; text without an edit stays byte for byte.

spans.py            where every value of a JSON text begins and ends
rewriting.py        edits -> the smallest changes of a JSON text that make them
yaml_rewriting.py   the same of a YAML text, whose comments stay;  yaml_places.py  where its values stand
texts.py            tells JSON texts and YAML texts apart
edited.py           the same edits on the value; the changed text must decode to it

{"url": "x",            Edit(pointer="/url", value=None)            {
 "id": "a"}             ------------------------------->             "id": "a"}
"""
