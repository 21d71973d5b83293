-- %(artifacts)s artifacts of the organisation %(org)s with three revisions each, and as many of
-- another one.  Of each, %(eligible)s, evenly spread, are what "ann" of the team "t1" may have for
-- a slot that accepts "@x/voice".  Where %(unseen)s the others are classified as it too, and not
-- for her eyes; else she may see them, and they are classified as something else or are drafts.

create temporary table made on commit drop as
select n, org, org || '-' || to_char(n, 'FM00000000') as id,
    (n * %(eligible)s::bigint) %% %(artifacts)s::bigint < %(eligible)s::bigint as meant,
    n * %(eligible)s::bigint / %(artifacts)s::bigint as place
from generate_series(1, %(artifacts)s::bigint) n,
    unnest(array[%(org)s::text, %(org)s::text || '-other']) org;

insert into objects (id, org_id, type, owner_id, visibility)
select id, org, '@cinatra-ai/artifact:object',
    case when meant and place %% 5 = 0 then 'ann' else 'p' || n %% 500 end,
    case when meant then (array['private', 'org', 'team:t1', 'workspace', 'org'])[place %% 5 + 1]
         when %(unseen)s::boolean then (array['private', 'team:t' || 2 + n %% 60,
                                              'project:p' || n %% 60, 'admin'])[n %% 4 + 1]
         else (array['org', 'workspace', 'team:t1'])[n %% 3 + 1] end
from made;

insert into representations (id, org_id, artifact_id, revision, content)
select md5(id || '/' || revision), org, id, revision, repeat('plain words ', 20)
from made, generate_series(1, 3) revision;

insert into semantic_assertions (id, org_id, artifact_id, extension, asserted_by, eligibility)
select md5(id), org, id,
    case when meant or %(unseen)s::boolean or n %% 50 = 0 then '@x/voice'
         else '@x/other-' || n %% 20 end,
    'user',
    case when meant or %(unseen)s::boolean or n %% 50 <> 0 then 'eligible' else 'draft' end
from made;

analyze objects, representations, semantic_assertions, eligible_artifacts;
