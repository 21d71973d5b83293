"""A script of an agent never talks to a database.

import psycopg                                ->   OAS185
const { Pool } = require("pg")                ->   OAS185
psql -c "select 1"                            ->   OAS185
"""

from __future__ import annotations

from typing import Final

from oas_compiler.checks.credentials.credential_names import set_of
from oas_compiler.checks.lookup.program_calls import WantedCalls, uses
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule

_DATABASES: Final = WantedCalls(
    python=set_of(
        "psycopg psycopg2 psycopg_pool asyncpg aiopg pg8000 sqlalchemy sqlmodel sqlite3 aiosqlite "
        "apsw MySQLdb pymysql mysql aiomysql asyncmy mariadb peewee pony tortoise prisma duckdb "
        "pymongo motor mongoengine redis aioredis cx_Oracle oracledb pyodbc aioodbc pymssql cassandra "
        "clickhouse_driver clickhouse_connect neo4j supabase django.db snowflake.connector "
        "google.cloud.bigquery google.cloud.firestore google.cloud.spanner"
    ),
    javascript=set_of(
        "pg pg-promise pg-native pg-pool pg-cursor postgres drizzle-orm drizzle-kit prisma "
        "@prisma/client knex mysql mysql2 mariadb sqlite sqlite3 better-sqlite3 node:sqlite bun:sqlite "
        "bun:sql mongoose mongodb sequelize typeorm kysely slonik objection redis ioredis @vercel/postgres "
        "@neondatabase/serverless @planetscale/database @libsql/client @supabase/supabase-js "
        "@mikro-orm/core oracledb tedious mssql cassandra-driver neo4j-driver duckdb "
        "@duckdb/node-api @electric-sql/pglite"
    ),
    commands=set_of(
        "psql pg_dump pg_restore mysql mysqldump mariadb sqlite3 mongosh mongo mongoexport redis-cli "
        "sqlcmd sqlplus duckdb clickhouse-client cqlsh cypher-shell"
    ),
)


@rule(
    code="OAS185",
    name="script-database-access",
    severity="error",
    summary="A script of the package reads or writes a database by itself.",
    fix="Call an MCP tool for the data; if there is none, the platform needs one.",
    source="agent guide, rule 9",
    needs="package",
    aliases=("guide-rule-9",),
    bad='import psycopg\nrows = psycopg.connect(url).execute("select * from contacts")',
    good='print("the flow fetches contacts with the MCP tool contacts_list")',
)
def script_database_access(subject: Subject, report: Report) -> None:
    files = subject.agent.files if subject.agent is not None else ()
    for script, file in subject.scripts:
        for use in uses(script, _DATABASES, files):
            report(
                f"the script {script.file} uses {use.name}: an agent has no database of its own",
                use.place,
                hint="data comes and goes through MCP tools of the platform",
                file=file,
            )
