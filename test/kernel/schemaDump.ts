import type pg from 'pg'

/** The schema as the catalogue has it, in one text, so that a change of it shows as a difference of `schema.sql`. */
export async function dumpSchema(pool: pg.Pool): Promise<string> {
  const parts = await Promise.all(
    [columns, constraints, indexes, triggers, functions, grants, execution].map((part) => part(pool)),
  )
  return `${parts.map(({ title, lines }) => [`-- ${title}`, ...lines].join('\n')).join('\n\n')}\n`
}

interface Part {
  readonly title: string
  readonly lines: readonly string[]
}

// Partitions are left out: their names hold days and positions, and they are made like their parents.
const parents = `n.nspname in ('ledger', 'work', 'paywall', 'news', 'reports', 'signer') and not c.relispartition`

const columns = (pool: pg.Pool): Promise<Part> =>
  part(
    pool,
    'columns of tables and types',
    `
    select format('%I.%I %I %s%s%s', n.nspname, c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
      case when a.attnotnull then ' not null' else '' end, coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '')) as line
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
    where c.relkind in ('r', 'p', 'c') and ${parents}
    order by n.nspname, c.relname, a.attnum`,
  )

// Not-null constraints have rows of their own since Postgres 18; the columns show them already.
const constraints = (pool: pg.Pool): Promise<Part> =>
  part(
    pool,
    'constraints',
    `
    select format('%I.%I %I %s', n.nspname, c.relname, k.conname, pg_get_constraintdef(k.oid)) as line
    from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_namespace n on n.oid = c.relnamespace
    where k.contype <> 'n' and ${parents} order by n.nspname, c.relname, k.conname`,
  )

const indexes = (pool: pg.Pool): Promise<Part> =>
  part(
    pool,
    'indexes',
    `
    select pg_get_indexdef(i.indexrelid) as line
    from pg_index i join pg_class c on c.oid = i.indrelid join pg_namespace n on n.oid = c.relnamespace
    where ${parents} order by 1`,
  )

const triggers = (pool: pg.Pool): Promise<Part> =>
  part(
    pool,
    'triggers (A: always, also for a superuser who replays a replica)',
    `
    select format('%s %s', t.tgenabled, pg_get_triggerdef(t.oid)) as line
    from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_namespace n on n.oid = c.relnamespace
    where not t.tgisinternal and ${parents} order by n.nspname, c.relname, t.tgname`,
  )

const functions = (pool: pg.Pool): Promise<Part> =>
  part(
    pool,
    'functions (their text is in packages/ledger/sql and migrations/functions)',
    `
    select format('%I.%I(%s) returns %s%s %s', n.nspname, p.proname, pg_get_function_identity_arguments(p.oid),
      pg_get_function_result(p.oid), case when p.prosecdef then ' security definer' else '' end,
      coalesce(array_to_string(p.proconfig, ' '), '')) as line
    from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where n.nspname in ('ledger', 'work', 'paywall', 'news', 'reports', 'signer') order by 1`,
  )

const grants = (pool: pg.Pool): Promise<Part> =>
  part(
    pool,
    'rights on tables of others than the owner',
    `
    select format('%I.%I %s %s', n.nspname, c.relname, case a.grantee when 0 then 'public' else a.grantee::regrole::text end,
      string_agg(a.privilege_type, ', ' order by a.privilege_type)) as line
    from pg_class c join pg_namespace n on n.oid = c.relnamespace, lateral aclexplode(c.relacl) a
    where c.relkind in ('r', 'p') and n.nspname in ('ledger', 'work', 'paywall', 'news', 'reports', 'signer') and a.grantee <> c.relowner
    group by n.nspname, c.relname, a.grantee order by 1`,
  )

const execution = (pool: pg.Pool): Promise<Part> =>
  part(
    pool,
    'rights to execute of others than the owner',
    `
    select format('%I.%I %s', n.nspname, p.proname, case a.grantee when 0 then 'public' else a.grantee::regrole::text end) as line
    from pg_proc p join pg_namespace n on n.oid = p.pronamespace,
      lateral aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
    where n.nspname in ('ledger', 'work', 'paywall', 'news', 'reports', 'signer') and a.grantee <> p.proowner order by 1`,
  )

async function part(pool: pg.Pool, title: string, query: string): Promise<Part> {
  const { rows } = await pool.query<{ line: string }>(query)
  return { title, lines: rows.map(({ line }) => line) }
}
