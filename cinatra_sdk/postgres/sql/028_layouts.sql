-- Runs whose checkpoints another version laid out are found at once, however many runs there are.
create index rests_by_layout on rests (layout, run_id)
    where status not in ('completed', 'rejected', 'stopped') and not archived;

-- Whether these are the bytes of a graph that somebody wrote by hand, whose layouts are counted by themselves:
-- a header that names a module, and no plan of a flow.
create function oasflow_is_hand_written(source bytea) returns boolean
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
    select length(source) > 0 and substr(source, 1, 1) = '\x1e'::bytea
       and position('"plan": "'::bytea in substr(source, 1, 100000)) = 0
$$;
