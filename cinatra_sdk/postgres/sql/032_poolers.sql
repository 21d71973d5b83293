-- Connections through a pooler: what they begin with.
--
-- Clients of a pooler cannot bring their settings along, and a pooler takes no more than some 500 letters for
-- the statement with which its connections to the server begin.  So that statement is a call of this
-- function (`oasflow db pooler` prints it).  Its values are those of `USUAL` and `OURS` in connection.py,
-- and of the statement `greet`; a later migration replaces it where they change.

create function oasflow_begin_session() returns void language plpgsql volatile as $$
begin
    perform
        pg_catalog.set_config('default_transaction_read_only', 'off', false),
        pg_catalog.set_config('default_transaction_deferrable', 'off', false),
        pg_catalog.set_config('statement_timeout', '0', false),
        pg_catalog.set_config('lock_timeout', '0', false),
        pg_catalog.set_config('idle_in_transaction_session_timeout', '0', false),
        pg_catalog.set_config('exit_on_error', 'off', false),
        pg_catalog.set_config('local_preload_libraries', '', false),
        pg_catalog.set_config('row_security', 'on', false),
        pg_catalog.set_config('client_encoding', 'UTF8', false),
        pg_catalog.set_config('DateStyle', 'ISO', false),
        pg_catalog.set_config('IntervalStyle', 'postgres', false),
        pg_catalog.set_config('TimeZone', 'UTC', false),
        pg_catalog.set_config('bytea_output', 'hex', false),
        pg_catalog.set_config('extra_float_digits', '1', false),
        pg_catalog.set_config('array_nulls', 'on', false),
        pg_catalog.set_config('transform_null_equals', 'off', false),
        pg_catalog.set_config('standard_conforming_strings', 'on', false),
        pg_catalog.set_config('quote_all_identifiers', 'off', false),
        pg_catalog.set_config('log_parameter_max_length_on_error', '0', false),
        pg_catalog.set_config('debug_print_parse', 'off', false),
        pg_catalog.set_config('debug_print_rewritten', 'off', false),
        pg_catalog.set_config('debug_print_plan', 'off', false),
        pg_catalog.set_config('client_min_messages', 'warning', false),
        pg_catalog.set_config('jit', 'off', false),
        pg_catalog.set_config('search_path', 'oasflow', false),
        pg_catalog.set_config('default_transaction_isolation', 'read committed', false);
    if pg_catalog.current_setting('synchronous_commit') in ('off', 'local') then
        perform pg_catalog.set_config('synchronous_commit', 'on', false);
    end if;
    if coalesce(pg_catalog.current_setting('transaction_timeout', true), '0') <> '0' then
        perform pg_catalog.set_config('transaction_timeout', '0', false);
    end if;
    if coalesce(pg_catalog.current_setting('idle_session_timeout', true), '0') <> '0' then
        perform pg_catalog.set_config('idle_session_timeout', '0', false);
    end if;
end $$;
