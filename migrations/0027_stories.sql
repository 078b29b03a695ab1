-- Why: articles have a description, a picture and a language, and articles about one story form a cluster that its most trusted
-- publisher leads. Each article belongs to the feed that brought it, so that no other feed changes it.
alter table news.articles
  add column description text,
  add column image_url text,
  add column language text,
  add column feed text,
  -- Place in the order of trust: the lower, the more trusted. Null: by the provider.
  add column rank integer,
  -- Significant words of the title, sorted; for similarity.
  add column story_words text[] not null default '{}',
  add column cluster uuid not null default gen_random_uuid(),
  add column leads boolean not null default true,
  add constraint articles_image_is_encrypted_web check (image_url ~ '^https://');
create index articles_by_cluster on news.articles (cluster);
create index articles_by_story on news.articles using gin (story_words) where leads;
