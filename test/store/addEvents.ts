import type pg from 'pg'
import type { TreeHead } from '@tollbook/core/merkle'
import { emptyEdge, grow, rootOfEdge } from '@tollbook/core/tiles'

/** Many events at once, for tests of what reads them: small bodies that no code of ours decodes, and true leaves. */
export async function addEvents(admin: pg.Pool, count: number): Promise<void> {
  const session = await admin.connect()
  try {
    await session.query('begin')
    await session.query(`set local ledger.writing = 'on'`)
    await session.query(
      `insert into ledger.events (seq, stream, version, kind, schema_version, recorded_at, effective_at, body, leaf_hash)
       select n, first, n - first + 1, 'Test', 1, at, at, body, sha256('\\x00'::bytea || int8send(n) || int8send(0) || body)
       from (select head.seq + k as n, head.seq + 1 as first, timestamptz 'epoch' as at, convert_to(format('{"n":%s}', k), 'UTF8') as body
             from ledger.head, generate_series(1, $1::bigint) as k) made`,
      [count],
    )
    await session.query('update ledger.head set seq = seq + $1', [count])
    await session.query('commit')
    await session.query('analyze ledger.events')
  } finally {
    session.release()
  }
}

interface SealedLeaves {
  readonly leaves: readonly Uint8Array[]
  readonly sign: (tree: TreeHead) => string
}

/** A ledger that begins with full tiles, signed, of events that were pruned since: only later ones are in the tables. */
export async function addSealedTiles(admin: pg.Pool, { leaves, sign }: SealedLeaves): Promise<void> {
  const { tiles, edge } = grow(emptyEdge, leaves)
  const tree = { size: leaves.length, root: rootOfEdge(edge) }
  const session = await admin.connect()
  try {
    await session.query('begin')
    await session.query(`set local ledger.writing = 'on'`)
    await session.query(
      'insert into ledger.tiles (level, index, hashes, root) select * from unnest($1::smallint[], $2::bigint[], $3::bytea[], $4::bytea[])',
      [
        tiles.map(({ level }) => level),
        tiles.map(({ index }) => index),
        tiles.map(({ hashes }) => hashes),
        tiles.map(({ root }) => root),
      ],
    )
    await session.query('insert into ledger.checkpoints (size, root, note, sealed_at) values ($1, $2, $3, now())', [
      tree.size,
      tree.root,
      sign(tree),
    ])
    await session.query('update ledger.head set seq = $1', [tree.size])
    await session.query('commit')
  } finally {
    session.release()
  }
}
