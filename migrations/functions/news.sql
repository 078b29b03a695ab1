-- Reserves one due poll for the caller until its lease ends. The lock makes the pace of a lane hold over all instances;
-- it is held for the time of this function and never during a request to a provider.
create or replace function news.take_poll(names text[], lanes text[], wanted_categories text[], spacings_ms integer[], lease_ms integer)
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
create or replace function news.poll_succeeded(polled text, next_ms integer, new_etag text, new_last_modified text) returns void
language sql
security definer
set search_path = ''
as $$
  update news.polls p
  set succeeded_at = clock_timestamp(), failures = 0, etag = new_etag, last_modified = new_last_modified,
    due_at = clock_timestamp() + next_ms * (0.9 + 0.2 * random()) * interval '1 millisecond'
  where p.name = polled
$$;

-- A failure delays the whole lane: by half a minute, then twice as long each time, a quarter of an hour at most.
create or replace function news.poll_failed(polled text) returns void
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

-- Rank of a provider: publishers speak for themselves, GDELT indexes publishers, and the other providers take posts of strangers.
create or replace function news.trust(provider text) returns integer
language sql
immutable
set search_path = ''
as $$
  select case regexp_replace(provider, '^sample:', '')
    when 'publisher-rss' then 3
    when 'guardian' then 3
    when 'gdelt' then 2
    else 1
  end
$$;

-- Returns the number of new articles. The same address, or the same title within a day, is the same article, and the most
-- trusted provider says what it is: a story with a publisher's title never takes the place of the publisher's article, and
-- gives it up if it came first. A provider corrects its own title. Otherwise the article only gains a category or a
-- question. One writer at a time, so that two instances with the same article store it once.
create or replace function news.keep_articles(
  url_keys text[], urls text[], titles text[], title_keys text[], publishers text[], published_ms bigint[],
  provider text, category text, question text)
returns integer
language plpgsql
security definer
set search_path = ''
as $$
declare
  given record;
  known record;
  kept integer := 0;
  given_trust constant integer := news.trust(provider);
begin
  perform pg_advisory_xact_lock(hashtext('news.keep_articles'));
  for given in
    select sha256(convert_to(g.url_key, 'UTF8')) as url_hash, g.url, g.title, g.title_key, g.publisher,
      timestamptz 'epoch' + g.ms * interval '1 millisecond' as published_at,
      to_tsvector('english', g.title_key) || to_tsvector('simple', g.title_key || ' ' || g.publisher) as words
    from unnest(url_keys, urls, titles, title_keys, publishers, published_ms) as g (url_key, url, title, title_key, publisher, ms)
  loop
    select a.url_hash, news.trust(a.provider) as trust into known
    from news.articles a
    where a.url_hash = given.url_hash
      or (a.title_key = given.title_key
        and a.published_at between given.published_at - interval '24 hours' and given.published_at + interval '24 hours')
    order by a.url_hash = given.url_hash desc, news.trust(a.provider) desc
    limit 1;
    if not found then
      insert into news.articles (
        url_hash, url, title, title_key, publisher, provider, categories, found_by, published_at, fetched_at, words)
      values (
        given.url_hash, given.url, given.title, given.title_key, given.publisher, keep_articles.provider,
        array_remove(array[category], null), array_remove(array[question], null), given.published_at, clock_timestamp(),
        given.words);
      kept := kept + 1;
    else
      update news.articles a
      set categories = case when category is null or category = any(a.categories) then a.categories else a.categories || category end,
        found_by = case when question is null or question = any(a.found_by) then a.found_by else a.found_by || question end
      where a.url_hash = known.url_hash
        and not (a.categories @> array_remove(array[category], null) and a.found_by @> array_remove(array[question], null));
      update news.articles a
      set url_hash = given.url_hash, url = given.url, title = given.title, title_key = given.title_key,
        publisher = given.publisher, provider = keep_articles.provider, published_at = given.published_at, words = given.words
      where a.url_hash = known.url_hash
        and (given_trust > known.trust
          or (given_trust = known.trust and a.url_hash = given.url_hash and a.provider = keep_articles.provider
            and (a.title, a.publisher) is distinct from (given.title, given.publisher)));
    end if;
  end loop;
  return kept;
end
$$;

-- Deletes articles a week after their publication, and polls that no instance has taken for as long.
create or replace function news.forget_old() returns bigint
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

grant execute on function news.take_poll, news.poll_succeeded, news.poll_failed, news.keep_articles, news.forget_old to tollbook_service;
