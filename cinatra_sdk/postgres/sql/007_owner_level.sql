-- A project is a visibility and no owner: a private artifact with this level came first in every
-- order, and won wherever the narrowest scope wins.  It becomes a user's, as a level that is not known
-- counts.

update objects set owner_level = 'user' where owner_level = 'project';
alter table objects add constraint objects_owner_level_is_no_project
    check (owner_level <> 'project');
