-- Reserves one due poll for the caller until its lease ends. The lock makes the pace of a lane hold over all instances;
-- it is held for the time of this function and never during a request to a provider.
create or replace function news.take_poll(names text[], lanes text[], wanted_categories text[], spacings_ms integer[], lease_ms integer)
returns table (poll text, poll_etag text, poll_last_modified text)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
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
set search_path = pg_catalog, pg_temp
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
set search_path = pg_catalog, pg_temp
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
set search_path = pg_catalog, pg_temp
as $$
  select case regexp_replace(provider, '^sample:', '')
    when 'publisher-rss' then 3
    when 'guardian' then 3
    when 'gdelt' then 2
    else 1
  end
$$;

-- The similar article that leads a cluster: the same title, or more than four fifths of the words of both and the same numbers,
-- published within a day. Similarity is judged by the leading article alone, so that no title joins the clusters of two stories.
create or replace function news.find_cluster(
  wanted_key text, wanted_words text[], wanted_at timestamptz, is_sample boolean, but_not bytea)
returns uuid
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
  select a.cluster
  from news.articles a
  cross join lateral (
    select count(*) filter (where w = any(wanted_words)) as shared,
      count(*) filter (where w ~ '[0-9]' and not w = any(wanted_words)) as numbers
    from unnest(a.story_words) as w
  ) s
  where a.leads and a.url_hash <> but_not
    and starts_with(a.provider, 'sample:') = is_sample
    and a.published_at between wanted_at - interval '24 hours' and wanted_at + interval '24 hours'
    and (a.title_key = wanted_key
      or (a.story_words && wanted_words and s.shared >= 4 and s.numbers = 0
        and s.shared * 5 > 4 * (cardinality(a.story_words) + cardinality(wanted_words) - s.shared)
        and not exists (select from unnest(wanted_words) as w where w ~ '[0-9]' and not w = any(a.story_words))))
  order by a.title_key = wanted_key desc, s.shared desc, a.fetched_at
  limit 1
$$;

-- The most trusted article leads; of equals the one that was here first, whatever dates they claim.
create or replace function news.choose_lead(of_cluster uuid) returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  update news.articles a
  set leads = not a.leads
  from (
    select m.url_hash,
      row_number() over (
        order by m.rank, m.fetched_at, m.url_hash) = 1 as should_lead
    from news.articles m where m.cluster = of_cluster
  ) c
  where a.url_hash = c.url_hash and a.leads <> c.should_lead
$$;

-- Returns the number of new stories. An article is identified by its address and belongs to the most trusted feed that has it: that
-- feed alone corrects it, and other feeds only add a category or a question. Its time of publication never moves forward, so that
-- no feed stays at the top by corrections. One writer at a time, so that two instances with the same article store it once.
create or replace function news.keep_stories(
  url_keys text[], urls text[], titles text[], title_keys text[], story_keys text[], publishers text[], descriptions text[],
  image_urls text[], languages text[], ranks integer[], published_ms bigint[],
  provider text, feed text, category text, question text)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  given record;
  known record;
  joined uuid;
  stories integer := 0;
  is_sample constant boolean := starts_with(provider, 'sample:');
begin
  perform pg_advisory_xact_lock(hashtext('news.keep_stories'));
  for given in
    select sha256(convert_to(g.url_key, 'UTF8')) as url_hash, g.url, g.title, g.title_key, g.publisher, g.description, g.image_url,
      g.language, coalesce(g.rank, (4 - news.trust(keep_stories.provider)) * 1000) as rank,
      string_to_array(g.story_key, ' ') as story_words,
      timestamptz 'epoch' + g.ms * interval '1 millisecond' as published_at,
      to_tsvector('english', g.title_key) || to_tsvector('simple', g.title_key || ' ' || g.publisher) as words
    from unnest(url_keys, urls, titles, title_keys, story_keys, publishers, descriptions, image_urls, languages, ranks, published_ms)
      as g (url_key, url, title, title_key, story_key, publisher, description, image_url, language, rank, ms)
  loop
    select a.cluster, a.title_key, a.rank, a.feed = keep_stories.feed as is_own into known
    from news.articles a
    where a.url_hash = given.url_hash;
    if not found then
      joined := news.find_cluster(given.title_key, given.story_words, given.published_at, is_sample, given.url_hash);
      if joined is null then stories := stories + 1; end if;
      insert into news.articles (
        url_hash, url, title, title_key, publisher, provider, categories, found_by, published_at, fetched_at, words,
        description, image_url, language, feed, rank, story_words, cluster, leads)
      values (
        given.url_hash, given.url, given.title, given.title_key, given.publisher, keep_stories.provider,
        array_remove(array[category], null), array_remove(array[question], null), given.published_at, clock_timestamp(),
        given.words, given.description, given.image_url, given.language, keep_stories.feed, given.rank,
        given.story_words, coalesce(joined, gen_random_uuid()), true)
      returning cluster into joined;
      perform news.choose_lead(joined);
    else
      update news.articles a
      set categories = case when category is null or category = any(a.categories) then a.categories else a.categories || category end,
        found_by = case when question is null or question = any(a.found_by) then a.found_by else a.found_by || question end
      where a.url_hash = given.url_hash
        and not (a.categories @> array_remove(array[category], null) and a.found_by @> array_remove(array[question], null));
      if given.rank < known.rank or known.is_own then
        if given.title_key <> known.title_key then
          joined := coalesce(
            news.find_cluster(given.title_key, given.story_words, given.published_at, is_sample, given.url_hash),
            gen_random_uuid());
        else
          joined := known.cluster;
        end if;
        update news.articles a
        set url = given.url, title = given.title, title_key = given.title_key, publisher = given.publisher,
          provider = keep_stories.provider, words = given.words, description = given.description, image_url = given.image_url,
          language = given.language, feed = keep_stories.feed, rank = given.rank,
          story_words = given.story_words, cluster = joined,
          published_at = case when known.is_own then least(a.published_at, given.published_at) else given.published_at end
        where a.url_hash = given.url_hash
          and (a.title, a.publisher, a.description, a.image_url, a.language, a.rank, a.feed)
            is distinct from (given.title, given.publisher, given.description, given.image_url, given.language, given.rank, keep_stories.feed);
        perform news.choose_lead(joined);
        if joined <> known.cluster then perform news.choose_lead(known.cluster); end if;
      end if;
    end if;
  end loop;
  return stories;
end
$$;

-- Deletes articles a week after their publication, and polls that no instance has taken for as long. A cluster whose leading
-- article is gone is led by the most trusted of the others.
create or replace function news.forget_old() returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  forgotten bigint;
begin
  perform pg_advisory_xact_lock(hashtext('news.keep_stories'));
  delete from news.articles where published_at < now() - interval '7 days';
  get diagnostics forgotten = row_count;
  perform news.choose_lead(f.cluster)
  from (select a.cluster from news.articles a group by a.cluster having not bool_or(a.leads)) f;
  delete from news.polls where coalesce(taken_at, due_at) < now() - interval '7 days';
  return forgotten;
end
$$;

grant execute on function news.trust, news.take_poll, news.poll_succeeded, news.poll_failed, news.keep_stories, news.forget_old to tollbook_service;
