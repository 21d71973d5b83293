-- How a run stands at the moment of the question, also in a statement that had to wait for a lock: its
-- own snapshot may be older than the rejection, or the stop, that it waited for.
create function oasflow_standing(named text, out status text, out rejected_at_gate text)
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
begin
    select r.status, (
        select d.gate_id from oasflow.decisions d where d.run_id = r.run_id and d.kind = 'rejected'
        order by d.decided_at, d.gate_id limit 1)
    into status, rejected_at_gate
    from oasflow.runs r where r.run_id = named;
end $$;
