-- What one thread has left in the checkpointer's tables: rows, and the bytes of their columns as
-- they are stored (compressed where Postgres compresses).
select table_name, rows, bytes
from (
    select 'checkpoint_blobs' as table_name, count(*) as rows,
        coalesce(sum(pg_column_size(thread_id) + pg_column_size(checkpoint_ns)
            + pg_column_size(channel) + pg_column_size(version) + pg_column_size(type)
            + coalesce(pg_column_size(blob), 0)), 0)::bigint as bytes
    from checkpoint_blobs where thread_id = %(thread)s
    union all
    select 'checkpoint_writes', count(*),
        coalesce(sum(pg_column_size(thread_id) + pg_column_size(checkpoint_ns)
            + pg_column_size(checkpoint_id) + pg_column_size(task_id) + pg_column_size(idx)
            + pg_column_size(channel) + coalesce(pg_column_size(type), 0) + pg_column_size(blob)
            + pg_column_size(task_path)), 0)::bigint
    from checkpoint_writes where thread_id = %(thread)s
    union all
    select 'checkpoints', count(*),
        coalesce(sum(pg_column_size(thread_id) + pg_column_size(checkpoint_ns)
            + pg_column_size(checkpoint_id) + coalesce(pg_column_size(parent_checkpoint_id), 0)
            + coalesce(pg_column_size(type), 0) + pg_column_size(checkpoint)
            + pg_column_size(metadata)), 0)::bigint
    from checkpoints where thread_id = %(thread)s
) as written
order by table_name
