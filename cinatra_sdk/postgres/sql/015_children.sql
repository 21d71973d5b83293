-- A run that another run began stands as that one does: whoever rejected or stopped the run above has
-- rejected, or stopped, what it began.  A gate of a run above is told with that run's id: `r1/review`.
create or replace function oasflow_standing(named text, out status text, out rejected_at_gate text)
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
    above text;
    own text;
    gate text;
begin
    select r.status, r.parent_run_id, (
        select d.gate_id from oasflow.decisions d where d.run_id = r.run_id and d.kind = 'rejected'
        order by d.decided_at, d.gate_id limit 1)
    into status, above, rejected_at_gate
    from oasflow.runs r where r.run_id = named;
    -- A parent is there before its child and never changes, so the way up ends.
    while above is not null and rejected_at_gate is null
          and status not in ('completed', 'rejected', 'stopped') loop
        named := above;
        select r.status, r.parent_run_id, (
            select d.gate_id from oasflow.decisions d where d.run_id = r.run_id and d.kind = 'rejected'
            order by d.decided_at, d.gate_id limit 1)
        into own, above, gate
        from oasflow.runs r where r.run_id = named;
        if gate is not null then
            rejected_at_gate := named || '/' || gate;
        elsif own in ('rejected', 'stopped') then
            status := own;
        end if;
    end loop;
end $$;
