"""Changes values of a text in place; text without an edit stays byte for byte.

json_edits.py     edits -> the smallest changes of a JSON text that make them; where every value
                  of a JSON text begins and ends
yaml_edits.py     the same of a YAML text, whose comments stay; where its values stand
editable_text.py  tells JSON texts and YAML texts apart; the same edits on the value; the changed
                  text must decode to it

{"url": "x",            Edit(pointer="/url", value=None)            {
 "id": "a"}             ------------------------------->             "id": "a"}
"""
