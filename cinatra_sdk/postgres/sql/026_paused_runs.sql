-- A person pauses a run: whoever works on it stops at the next step, and nobody goes on until a person does.
-- In `work`, so that a call is begun or a run claimed under the lock under which the run is paused, and so
-- that processes that run while this migration is made read the columns of `runs` that they know.
alter table work add column paused_at timestamptz,               -- null: it is not paused
                 add column paused_by text not null default '';
