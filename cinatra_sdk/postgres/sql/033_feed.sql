-- Lists in the order in which runs were started; these columns never change, so no update of a run moves here.
create index runs_by_start on runs (created_at, run_id);
create index runs_of_tenant_by_start on runs (tenant, created_at, run_id) where tenant <> '';
create index runs_of_starter_by_start on runs (started_by, created_at, run_id) where started_by <> '';
