"""Artifacts, attached files and saved objects in the database.

artifacts.py         `ArtifactStore`: artifacts, and the candidates of a slot
selections.py        the record of choices for slots; the refs that a slot offered
attachment_store.py  `AttachmentStore`: attached files, their rows and bytes; the resolver's ports of a tenant
object_store.py      objects that runs save by tools, in versions
"""
