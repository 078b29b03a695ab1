-- Why: news is sold from our own storage, so that no paid request waits for a publisher and all instances share the
-- articles that one of them has fetched. Not part of the ledger: articles are deleted after a week.

-- Articles about one story form a cluster that its most trusted publisher leads. An article belongs to the feed that
-- brought it, so that no other feed changes it.
create table news.articles (
  url_hash bytea not null,
  url text not null,
  title text not null,
  title_key text not null,
  publisher text not null,
  provider text not null,
  categories text[] not null,
  -- Questions that a provider answered with this article; its title need not have their words.
  found_by text[] not null,
  published_at timestamptz not null,
  fetched_at timestamptz not null,
  -- Of the title's key, whose letters do not depend on the locale of the database; by stem and as written: "election"
  -- finds "elections", and "The Who" is not only stop words.
  words tsvector not null,
  description text,
  image_url text,
  language text,
  feed text not null,
  -- Place in the order of trust: the lower, the more trusted.
  rank integer not null,
  -- Significant words of the title, sorted; for similarity.
  story_words text[] not null,
  cluster uuid not null,
  leads boolean not null,
  constraint articles_url_is_kept_once primary key (url_hash),
  constraint articles_hash_is_sha256 check (octet_length(url_hash) = 32),
  constraint articles_url_is_web check (url ~ '^https?://'),
  constraint articles_image_is_encrypted_web check (image_url ~ '^https://')
);
create index articles_by_time on news.articles (published_at desc);
create index articles_by_title on news.articles (title_key, published_at);
create index articles_by_category on news.articles using gin (categories);
create index articles_by_question on news.articles using gin (found_by);
create index articles_by_words on news.articles using gin (words);
create index articles_by_cluster on news.articles (cluster);
create index articles_by_story on news.articles using gin (story_words) where leads;

-- One row per source that is polled. Polls of one lane share a pace: a provider's limit, or a feed.
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

grant select on news.articles, news.polls to tollbook_service;
