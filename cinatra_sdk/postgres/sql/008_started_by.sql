-- Who started a run, for whoever is asked to go on with it, and ways to find runs by that and by flow.

alter table runs add column started_by text not null default '';   -- empty: nobody said, or before

create index runs_by_flow on runs (digest, updated_at desc);
create index runs_by_starter on runs (started_by, updated_at desc);
create index flows_by_name on flows (name);
