-- A pack is its tenant's: the same reference may stand for another pack of each tenant.

alter table context_packs drop constraint context_packs_pkey;
alter table context_packs add primary key (tenant, ref);
