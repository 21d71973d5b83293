-- Who acts, beyond a name: the id that an issuer gives them, whether they are a person or a service, how
-- that was proved, and by which channel they came.  Empty where a name alone was given, as in all rows of
-- before.  An address and groups are not kept: both change.

alter table decisions
    add column by_sub     text not null default '',
    add column by_issuer  text not null default '',
    add column by_kind    text not null default '',
    add column by_proof   text not null default '',
    add column by_channel text not null default '',
    add constraint deciders_bounded
        check (length(by_sub) <= 300 and length(by_issuer) <= 1000 and length(by_channel) <= 40
               and length(by_proof) <= 40 and by_kind in ('', 'person', 'service')) not valid;
alter table settlements
    add column by_sub     text not null default '',
    add column by_issuer  text not null default '',
    add column by_kind    text not null default '',
    add column by_proof   text not null default '',
    add column by_channel text not null default '',
    add constraint settlers_bounded
        check (length(by_sub) <= 300 and length(by_issuer) <= 1000 and length(by_channel) <= 40
               and length(by_proof) <= 40 and by_kind in ('', 'person', 'service')) not valid;
alter table runs
    add column started_sub     text not null default '',
    add column started_issuer  text not null default '',
    add column started_kind    text not null default '',
    add column started_proof   text not null default '',
    add column started_channel text not null default '',
    add column stopped_sub     text not null default '',
    add column stopped_issuer  text not null default '',
    add column stopped_kind    text not null default '',
    add column stopped_proof   text not null default '',
    add column stopped_channel text not null default '',
    add constraint starters_bounded
        check (length(started_sub) <= 300 and length(started_issuer) <= 1000
               and length(started_channel) <= 40 and length(started_proof) <= 40
               and started_kind in ('', 'person', 'service')) not valid,
    add constraint stoppers_bounded
        check (length(stopped_sub) <= 300 and length(stopped_issuer) <= 1000
               and length(stopped_channel) <= 40 and length(stopped_proof) <= 40
               and stopped_kind in ('', 'person', 'service')) not valid,
    add constraint only_a_stopped_run_has_a_stopper
        check (status = 'stopped'
               or (stopped_sub, stopped_issuer, stopped_kind, stopped_proof, stopped_channel)
                  = ('', '', '', '', '')) not valid;

-- Of the policy in force when the gate was asked: whoever decides may not be able to make the flow, which
-- derives it.  Empty for gates of before.
alter table gates add column policy_sha256 text not null default '';
