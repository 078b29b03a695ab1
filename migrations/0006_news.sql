-- Why: news is sold from a store of our own, so that no paid request waits for a publisher and all instances share what
-- one of them has fetched. Not part of the book: articles are kept for a week and then deleted. The service may read and
-- call functions here too, and nothing else.
create schema news;
revoke all on schema news from public;
grant usage on schema news to tollbook_service;

create table news.articles (
  url_hash bytea not null,
  url text not null,
  title text not null,
  title_key text not null,
  publisher text not null,
  provider text not null,
  categories text[] not null,
  -- The questions that a provider answered with this article; its title need not have their words.
  found_by text[] not null,
  published_at timestamptz not null,
  fetched_at timestamptz not null,
  -- Of the title's key, whose letters do not depend on the locale of the database; by stem and as written: "election" finds "elections", and "The Who" is not only stop words.
  words tsvector not null,
  constraint articles_url_is_kept_once primary key (url_hash),
  constraint articles_hash_is_sha256 check (octet_length(url_hash) = 32),
  constraint articles_url_is_web check (url ~ '^https?://')
);
create index articles_by_time on news.articles (published_at desc);
create index articles_by_title on news.articles (title_key, published_at);
create index articles_by_category on news.articles using gin (categories);
create index articles_by_question on news.articles using gin (found_by);
create index articles_by_words on news.articles using gin (words);

-- One row for each thing that is asked for news again and again. Polls of one lane share a pace: a provider's limit, or a feed.
create table news.polls (
  name text not null,
  lane text not null,
  category text not null,
  due_at timestamptz not null,
  taken_at timestamptz,
  succeeded_at timestamptz,
  failures integer not null default 0,
  etag text,
  last_modified text,
  constraint polls_name_is_unique primary key (name),
  constraint polls_failures_count_from_zero check (failures >= 0)
) with (fillfactor = 50);

-- Gives one poll that is due to whoever asks, and to nobody else until its lease ends. The lock makes the pace of a lane
-- hold over all instances; it is held for the time of this function and never while anybody is asked.
create function news.take_poll(names text[], lanes text[], wanted_categories text[], spacings_ms integer[], lease_ms integer)
returns table (poll text, poll_etag text, poll_last_modified text)
language plpgsql
security definer
set search_path = ''
as $$
begin
  perform pg_advisory_xact_lock(hashtext('news.take_poll'));
  insert into news.polls (name, lane, category, due_at)
  select w.name, w.lane, w.category, clock_timestamp()
  from unnest(names, lanes, wanted_categories) as w (name, lane, category)
  where not exists (select from news.polls p where p.name = w.name);

  return query
  update news.polls p
  set taken_at = clock_timestamp(), due_at = clock_timestamp() + lease_ms * interval '1 millisecond'
  where p.name = (
    select due.name
    from unnest(names, lanes, spacings_ms) with ordinality as w (name, lane, spacing_ms, n)
    join news.polls due on due.name = w.name
    where due.due_at <= clock_timestamp()
      and not exists (
        select from news.polls other
        where other.lane = w.lane and other.taken_at > clock_timestamp() - w.spacing_ms * interval '1 millisecond')
    order by due.succeeded_at is not null, due.due_at, w.n
    limit 1)
  returning p.name, p.etag, p.last_modified;
end
$$;

-- A tenth of jitter, so that instances and feeds do not march in step.
create function news.poll_succeeded(polled text, next_ms integer, new_etag text, new_last_modified text) returns void
language sql
security definer
set search_path = ''
as $$
  update news.polls p
  set succeeded_at = clock_timestamp(), failures = 0, etag = new_etag, last_modified = new_last_modified,
    due_at = clock_timestamp() + next_ms * (0.9 + 0.2 * random()) * interval '1 millisecond'
  where p.name = polled
$$;

-- After a failure the whole lane is left alone: half a minute, then twice as long each time, a quarter of an hour at most.
create function news.poll_failed(polled text) returns void
language sql
security definer
set search_path = ''
as $$
  with failed as (
    select p.lane, least(p.failures, 10) as failures from news.polls p where p.name = polled
  )
  update news.polls p
  set failures = p.failures + 1,
    due_at = greatest(p.due_at, clock_timestamp()
      + least(interval '15 minutes', interval '30 seconds' * 2 ^ failed.failures) * (0.9 + 0.2 * random()))
  from failed
  where p.lane = failed.lane
$$;

-- How many articles were new. The same address, or the same title within a day, is the same article: it only gains a
-- category or a question. One writer at a time, so that two who bring the same article keep it once.
create function news.keep_articles(
  url_keys text[], urls text[], titles text[], title_keys text[], publishers text[], published_ms bigint[],
  provider text, category text, question text)
returns integer
language plpgsql
security definer
set search_path = ''
as $$
declare
  given record;
  known bytea;
  kept integer := 0;
begin
  perform pg_advisory_xact_lock(hashtext('news.keep_articles'));
  for given in
    select sha256(convert_to(g.url_key, 'UTF8')) as url_hash, g.url, g.title, g.title_key, g.publisher,
      timestamptz 'epoch' + g.ms * interval '1 millisecond' as published_at
    from unnest(url_keys, urls, titles, title_keys, publishers, published_ms) as g (url_key, url, title, title_key, publisher, ms)
  loop
    select a.url_hash into known
    from news.articles a
    where a.url_hash = given.url_hash
      or (a.title_key = given.title_key
        and a.published_at between given.published_at - interval '24 hours' and given.published_at + interval '24 hours')
    order by a.url_hash = given.url_hash desc
    limit 1;
    if not found then
      insert into news.articles (
        url_hash, url, title, title_key, publisher, provider, categories, found_by, published_at, fetched_at, words)
      values (
        given.url_hash, given.url, given.title, given.title_key, given.publisher, keep_articles.provider,
        array_remove(array[category], null), array_remove(array[question], null), given.published_at, clock_timestamp(),
        to_tsvector('english', given.title_key) || to_tsvector('simple', given.title_key || ' ' || given.publisher));
      kept := kept + 1;
    else
      update news.articles a
      set categories = case when category is null or category = any(a.categories) then a.categories else a.categories || category end,
        found_by = case when question is null or question = any(a.found_by) then a.found_by else a.found_by || question end
      where a.url_hash = known
        and not (a.categories @> array_remove(array[category], null) and a.found_by @> array_remove(array[question], null));
    end if;
  end loop;
  return kept;
end
$$;

-- Articles a week after their publication, and polls that nobody has been interested in for as long.
create function news.forget_old() returns bigint
language sql
security definer
set search_path = ''
as $$
  with forgotten as (
    delete from news.articles where published_at < now() - interval '7 days' returning 1
  ),
  abandoned as (
    delete from news.polls where coalesce(taken_at, due_at) < now() - interval '7 days'
  )
  select count(*) from forgotten
$$;

grant select on news.articles, news.polls to tollbook_service;
revoke execute on all functions in schema news from public;
grant execute on all functions in schema news to tollbook_service;
