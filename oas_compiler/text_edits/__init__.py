"""Changes values of a text in place; text without an edit stays byte for byte.

editable_text.py  a text, as JSON or as YAML; the changed text must decode to the edited value
json_edits.py     edits of JSON as the smallest changes of its text
yaml_edits.py     edits of YAML as the smallest changes of its text; comments stay

{"url": "x",            Edit(pointer="/url", value=None)            {
 "id": "a"}             ------------------------------->             "id": "a"}
"""
