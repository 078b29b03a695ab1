import {
  editBody,
  forgeLeaf,
  lastPositionOf,
  onStream,
  type TamperedLedger,
  type Tampering,
  onPlace,
  onRow,
  deleted,
  changed,
} from './tampering.ts'

/* Missing and added records: positions, streams, keys, the head. */

const submittedBurn = `(select id from ledger.streams where kind = 'burn')`
const payoutStream = `(select id from ledger.streams where kind = 'payout' order by stream limit 1)`
const openStream = `(select id from ledger.streams where state = 'fulfilled' order by stream limit 1)`
const finalStream = `(select id from ledger.streams where state = 'fulfilled.final' order by stream limit 1)`
const claimedStream = `(select id from ledger.streams where state = 'claimed' order by stream limit 1)`
const paymentStream = `(select id from ledger.streams where kind = 'payment' order by stream offset 2 limit 1)`

/** The row of a stream taken away. */
function withoutStream(name: string, which: string): Tampering {
  return onPlace(
    name,
    lastPositionOf(which),
    { aspect: 'completeness', code: 'stream_missing' },
    () => `delete from ledger.streams where id = ${which}`,
  )
}

// Space of the keys of burn rounds in `ledger.keys`.
const burnRounds = 11

/** Position of the newest sale. It is the first event of its append, so that no append is taken apart. */
function newestSale(ledger: TamperedLedger): Promise<number> {
  return ledger.value(`select max(seq) as value from ledger.events where kind = 'PaymentVerified'`)
}

const tamperedPositions: readonly Tampering[] = [
  {
    name: 'the newest events taken away',
    run: async (ledger) => {
      const position = await newestSale(ledger)
      await ledger.sql(`delete from ledger.events where seq >= ${position}`)
      return { aspect: 'completeness', code: 'tree_too_small', position }
    },
  },
  {
    name: 'the newest events taken away, with checkpoints and the head set back',
    run: async (ledger) => {
      const position = await newestSale(ledger)
      await ledger.sql(`delete from ledger.events where seq >= ${position};
        delete from ledger.checkpoints where size >= ${position};
        update ledger.head h set seq = e.seq, recorded_at = e.recorded_at, leaf_hash = e.leaf_hash
        from ledger.events e where e.seq = ${position - 1}`)
      // The auditor's own checkpoint shows it.
      return { aspect: 'completeness', code: 'tree_too_small', position }
    },
  },
  onRow(
    'an event from the middle taken away',
    ['RequestFailed', 4],
    { aspect: 'completeness', code: 'position_missing' },
    deleted,
  ),
  {
    name: 'an event taken away from the middle of an append',
    run: async (ledger) => {
      const position = await ledger.nth('ProofClaimed', 9)
      await ledger.sql(`delete from ledger.events where seq = ${position}`)
      return { aspect: 'completeness', code: 'append_incomplete', position: position - 1 }
    },
  },
  {
    name: 'a payment taken away whole, everything behind it renumbered with new leaves',
    run: async (ledger) => {
      const position = await ledger.nth('PaymentVerified', 7)
      await ledger.sql(
        `
        create temp table gone as select seq from ledger.events
          where stream = (select stream from ledger.events where seq = ${position});
        delete from ledger.streams where stream in (select seq from gone);
        delete from ledger.events where seq in (select seq from gone);
        create temp table moved as select seq, row_number() over (order by seq) as now from ledger.events;
        update ledger.events e set stream = m.now from moved m where e.stream = m.seq;
        update ledger.events e set seq = m.now from moved m where e.seq = m.seq`,
      )
      await ledger.sql(`${forgeLeaf};
        update ledger.head set seq = (select max(seq) from ledger.events);
        drop table gone; drop table moved`)
      return { aspect: 'integrity', code: 'tile_differs', position }
    },
  },
  changed(
    'the first event replaced, its leaf made again',
    { aspect: 'integrity', code: 'tile_differs', position: 1 },
    `${editBody(1, '"source":"fixed"', '"source":"other"')}; ${forgeLeaf} where seq = 1`,
  ),
  {
    name: 'the head set back',
    run: async (ledger) => {
      const head = await ledger.head()
      await ledger.sql(`update ledger.head set seq = ${head - 3}`)
      return { aspect: 'completeness', code: 'head_differs', position: head - 2 }
    },
  },
]

const tamperedRegistry: readonly Tampering[] = [
  withoutStream('the stream of a payment taken away, so that its proof could be used again', paymentStream),
  withoutStream('the stream of a payout taken away, so that it could be recorded again', payoutStream),
  withoutStream('the stream of a burn taken away, so that it could be recorded again', submittedBurn),
  {
    name: 'the stream of a payment that no event has',
    run: async (ledger) => {
      const copied = `(select min(stream) from ledger.streams where state = 'fulfilled')`
      const position = await ledger.value(`select lower(seqs) as value from ledger.streams where stream = ${copied}`)
      await ledger.sql(`insert into ledger.streams select '\\x01'::bytea || sha512('x'), -stream, kind, state, version, lease_until, seqs
        from ledger.streams where stream = ${copied}`)
      return { aspect: 'completeness', code: 'stream_unexpected', position }
    },
  },
  onStream('the state of a stream', `state = 'released'`),
  onStream('the kind of a stream', `kind = 'burn'`),
  onStream('the version of a stream', 'version = version + 1'),
  onStream('the first event of a stream', 'stream = -stream'),
  onStream('the end of a lease', `lease_until = lease_until + interval '1 hour'`, claimedStream),
  onStream('a lease that was never taken', 'lease_until = clock_timestamp()'),
  onStream('a final state of a payment that is not final', `state = 'fulfilled.final'`, openStream),
  onStream('the finality in the state of a stream taken away', `state = 'fulfilled'`, finalStream),
  onStream('the state of a burn', `state = 'submitted'`, submittedBurn),
  onStream('the version of a payout', 'version = 2', payoutStream),
  onStream(
    'the positions of a stream',
    'seqs = int8multirange(int8range(lower(seqs), lower(seqs) + 1), int8range(upper(seqs) - 1, upper(seqs)))',
  ),
  onPlace(
    'the positions of a stream, one of them of another stream',
    `select upper(seqs) as value from ledger.streams where id = ${paymentStream}`,
    { aspect: 'completeness', code: 'stream_differs' },
    (position) => `update ledger.streams set seqs = seqs + int8multirange(int8range(${position}, ${position + 1}))
        - int8multirange(int8range(lower(seqs), lower(seqs) + 1)) where id = ${paymentStream}`,
  ),
]

const tamperedKeys: readonly Tampering[] = [
  onRow(
    'the key of a burn round taken away, so that it could be burned again',
    ['BurnSubmitted', 0],
    { aspect: 'completeness', code: 'key_differs' },
    () => `delete from ledger.keys where space = ${burnRounds}`,
  ),
  onRow(
    'the stream of the key of a burn round',
    ['BurnSubmitted', 0],
    { aspect: 'completeness', code: 'key_differs' },
    () => `update ledger.keys set id = ${paymentStream} where space = ${burnRounds}`,
  ),
  changed(
    'the key of a round that was never burned',
    { aspect: 'completeness', code: 'key_differs', position: undefined },
    `insert into ledger.keys (space, key, id) select space, key || '9'::bytea, id from ledger.keys where space = ${burnRounds}`,
  ),
]

export const tamperedStreams: readonly Tampering[] = [...tamperedPositions, ...tamperedRegistry, ...tamperedKeys]
