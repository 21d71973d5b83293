-- The file that a run was started from, for people who look at it; no process ever opens it.
-- A flow keeps the file that first brought its bytes, which says nothing of the runs after that one.

alter table runs add column file text;   -- null: started before this was kept
