"""Artifacts, attached files and saved objects in the database.

artifacts.py         `ArtifactStore`: artifacts, the candidates of a slot; many at once
attachment_rows.py   their rows and bytes; what providers have
attachment_store.py  `AttachmentStore`: attached files; the resolver's ports of one tenant
object_store.py      objects that runs save by tools, in versions
selections.py        the refs that were chosen; selections in words for people; the refs that a
                     slot was offered
"""
