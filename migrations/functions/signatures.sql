-- Time in which a transaction lands or its blockhash expires: 150 slots of 0.4 s, and as much again for slow slots.
create or replace function signer.landing_time() returns interval
language sql
immutable
set search_path = pg_catalog, pg_temp
as $$
  select interval '2 minutes'
$$;

-- Writes the outcomes that are known by now: of one wallet, or of the open payments of all. A payment that the ledger has is paid, also
-- if it was taken for failed before; thousands of failed payments of others are left to their own wallets. For the payments of its own wallet a
-- session waits, or a wallet would count as unpaid while another session settles its payment; by digest, so that no two sessions wait for
-- each other. Payments of all that another session is settling are skipped.
create or replace function signer.settle(of_wallet text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  payments constant bytea := '\x01';
begin
  perform from signer.signatures u
  where u.wallet = of_wallet and u.outcome is distinct from 'paid' and u.signed_at > clock_timestamp() - interval '1 day'
  order by u.digest for update;
  with known as (
    select u.digest, case when p.state <> 'submitted' then 'paid' else 'failed' end as outcome
    from signer.signatures u
    left join ledger.streams p on p.id = payments || u.signature
    where u.outcome is distinct from 'paid' and u.signed_at > clock_timestamp() - interval '1 day'
      and (u.wallet = of_wallet or of_wallet is null and u.outcome is null)
      and (p.state <> 'submitted' or u.outcome is null and u.signed_at <= clock_timestamp() - signer.landing_time())
    for update of u skip locked)
  update signer.signatures s set outcome = k.outcome, settled_at = clock_timestamp()
  from known k
  where s.digest = k.digest;
end
$$;

-- The signature of the message, if it was signed. Otherwise the time at which the unsettled payments of the wallet were settled as far
-- as known: a rehearsal that begins later shows the effects of all others.
create or replace function signer.find_signature(given_digest bytea, given_wallet text)
returns table (signature bytea, as_of timestamptz)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  select s.signature into signature from signer.signatures s where s.digest = given_digest;
  if not found then
    perform signer.settle(given_wallet);
  end if;
  as_of := clock_timestamp();
  return next;
end
$$;
grant execute on function signer.find_signature to tollbook_signer;

-- Records the signature of a message before it leaves the signer. Returns null, or the rule that forbids it:
--
-- perDay, perWalletAndDay   the budget of a UTC day. Each signature counts with its highest fee.
-- unsettled                 a wallet that has never paid has one unsettled payment at a time.
-- promised                  the rehearsed balance does not cover the payment and all others in its mint that the rehearsal may not show.
-- failures                  too many payments of the wallet failed in the last 24 hours.
-- failuresOfAll             failed payments of all wallets have used up their part of the day's budget. Wallets that have paid
--                           and had no failure are still served.
--
-- The lock of the day orders all signatures, so two signers with one key decide as one.
create or replace function signer.record_signature(
  given_digest bytea, given_signature bytea, given_wallet text, given_amount numeric, given_lamports bigint,
  held numeric, as_of timestamptz, lamports_per_day bigint, lamports_per_wallet bigint, given_dollar text default null)
returns text
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  -- Failures that a wallet may have in 24 hours: one, or three once it has paid; one more for every twenty payments.
  failures_of_new constant integer := 1;
  failures_of_known constant integer := 3;
  payments_per_failure constant integer := 20;
  -- Part of the day's budget that may be lost to failed payments, as a divisor.
  budget_per_failures constant integer := 5;
  kept_for constant interval := interval '30 days';
  today date;
  spent bigint;
  spent_by_wallet bigint;
  has_paid boolean;
  of_wallet record;
  allowed bigint;
  lost bigint;
begin
  if exists (select from signer.signatures s where s.digest = given_digest) then
    return null;
  end if;
  today := (clock_timestamp() at time zone 'utc')::date;
  -- A clock that is set back around midnight does not open another budget. One that was years ahead is right again.
  today := coalesce((select d.day from signer.days d where d.day = today + 1), today);
  insert into signer.days (day, lamports) values (today, 0) on conflict (day) do nothing;
  select d.lamports into strict spent from signer.days d where d.day = today for update;
  -- Again, now that no other session can add it.
  if exists (select from signer.signatures s where s.digest = given_digest) then
    return null;
  end if;

  if spent + given_lamports > lamports_per_day then
    return 'perDay';
  end if;
  select coalesce(sum(s.lamports), 0) into spent_by_wallet
  from signer.signatures s
  where s.wallet = given_wallet and s.signed_at > clock_timestamp() - interval '2 days' and s.day = today;
  if spent_by_wallet + given_lamports > lamports_per_wallet then
    return 'perWalletAndDay';
  end if;

  perform signer.settle(given_wallet);
  has_paid := exists (select from signer.signatures s where s.wallet = given_wallet and s.outcome = 'paid');
  select count(*) filter (where s.outcome is null) as open,
      count(*) filter (where s.outcome = 'failed') as failed,
      count(*) filter (where s.outcome = 'paid') as paid,
      coalesce(sum(s.amount) filter (where s.dollar is not distinct from given_dollar
        and (s.outcome is null or s.outcome = 'paid' and s.settled_at >= as_of)), 0) as promised
    into strict of_wallet
    from signer.signatures s
    where s.wallet = given_wallet and s.signed_at > clock_timestamp() - interval '1 day';
  if not has_paid and of_wallet.open > 0 then
    return 'unsettled';
  end if;
  allowed := of_wallet.paid / payments_per_failure + case when has_paid then failures_of_known else failures_of_new end;
  if of_wallet.failed >= allowed then
    return 'failures';
  end if;
  if not has_paid or of_wallet.failed > 0 then
    -- An open payment counts as failed here: a thousand new wallets at once must not lose more than one after another.
    perform signer.settle(null);
    select coalesce(sum(u.lamports), 0) into lost
    from signer.signatures u
    where u.outcome is distinct from 'paid' and u.outcome is distinct from 'absent' and u.signed_at > clock_timestamp() - interval '1 day';
    -- One payment at least, however small the budget is.
    if lost + given_lamports > greatest(lamports_per_day / budget_per_failures, given_lamports) then
      return 'failuresOfAll';
    end if;
  end if;
  if held < given_amount + of_wallet.promised then
    return 'promised';
  end if;

  insert into signer.signatures (digest, signature, wallet, dollar, amount, lamports, day, signed_at)
  values (given_digest, given_signature, given_wallet, given_dollar, given_amount, given_lamports, today, clock_timestamp());
  update signer.days d set lamports = d.lamports + given_lamports where d.day = today;
  -- Two at most, so that no call is slow.
  delete from signer.signatures
  where digest in (
    select s.digest from signer.signatures s where s.signed_at <= clock_timestamp() - kept_for
    order by s.signed_at limit 2 for update skip locked);
  return null;
end
$$;
grant execute on function signer.record_signature to tollbook_signer;

-- Writes the outcome of a payment that will never be in the ledger. It gives no lamports of the day back.
create or replace function signer.record_outcome(given_digest bytea, given_outcome text) returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if given_outcome not in ('failed', 'absent') then
    raise exception 'the outcome % is not known', given_outcome using errcode = 'check_violation';
  end if;
  update signer.signatures s set outcome = given_outcome, settled_at = clock_timestamp()
  where s.digest = given_digest and s.outcome is distinct from 'paid';
end
$$;
grant execute on function signer.record_outcome to tollbook_signer;

-- Lamports charged to the budget that the next signature is charged to.
create or replace function signer.spent_today() returns bigint
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(
    (select d.lamports from signer.days d
      where d.day between (clock_timestamp() at time zone 'utc')::date and (clock_timestamp() at time zone 'utc')::date + 1
      order by d.day desc limit 1), 0)
$$;
grant execute on function signer.spent_today to tollbook_signer;
