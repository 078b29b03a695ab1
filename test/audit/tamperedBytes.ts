import { editBody, forgeLeaf, forged, onRow, type Tampering } from './tampering.ts'

/* Records: bodies, hashes, and the columns that repeat the bodies. */

const leafMismatch = { aspect: 'integrity', code: 'leaf_mismatch' } as const
const column = { aspect: 'integrity', code: 'column_differs' } as const

export const tamperedBytes: readonly Tampering[] = [
  onRow('a byte of a body', ['ProofClaimed', 5], leafMismatch, (position) =>
    editBody(position, '"attempt":\\d', '"attempt":7'),
  ),
  onRow(
    'a leaf hash',
    ['RequestFulfilled', 5],
    leafMismatch,
    (position) => `update ledger.events set leaf_hash = sha256('another') where seq = ${position}`,
  ),
  onRow(
    'the time of recording',
    ['TokensBurned', 5],
    leafMismatch,
    (position) =>
      `update ledger.events set recorded_at = recorded_at + interval '1 millisecond' where seq = ${position}`,
  ),
  onRow(
    'two bodies swapped',
    ['RequestFulfilled', 5],
    leafMismatch,
    (position) =>
      `update ledger.events e set body = o.body from ledger.events o
     where e.seq in (${position}, ${position + 1}) and o.seq = ${2 * position + 1} - e.seq`,
  ),
  onRow(
    'the column stream',
    ['ProofClaimed', 5],
    column,
    (position) => `update ledger.events set stream = stream + 1 where seq = ${position}`,
  ),
  onRow(
    'the column version',
    ['ProofClaimed', 5],
    column,
    (position) => `update ledger.events set version = version + 1 where seq = ${position}`,
  ),
  onRow(
    'the column kind',
    ['RequestFailed', 5],
    column,
    (position) => `update ledger.events set kind = 'RequestFulfilled' where seq = ${position}`,
  ),
  onRow(
    'the column schema_version',
    ['ProofClaimed', 5],
    column,
    (position) => `update ledger.events set schema_version = 2 where seq = ${position}`,
  ),
  onRow(
    'the column effective_at',
    ['TokensBurned', 5],
    column,
    (position) => `update ledger.events set effective_at = effective_at - interval '1 day' where seq = ${position}`,
  ),
  onRow(
    'the time of recording set back, its leaf made again',
    ['ProofClaimed', 5],
    { aspect: 'integrity', code: 'recorded_out_of_order' },
    (position) =>
      `update ledger.events set recorded_at = recorded_at - interval '1 hour' where seq = ${position}; ${forgeLeaf} where seq = ${position}`,
  ),
  forged(
    'a space in a body',
    { kind: 'ProofClaimed', from: '"attempt":', to: '"attempt": ' },
    { aspect: 'integrity', code: 'body_unreadable' },
  ),
  forged(
    'a key twice in a body',
    { kind: 'ProofClaimed', from: '"attempt":', to: '"attempt":1,"attempt":' },
    { aspect: 'integrity', code: 'body_unreadable' },
  ),
  forged(
    'an event of an unknown kind',
    { kind: 'ProofClaimed', from: 'ProofClaimed', to: 'ProofKept' },
    { aspect: 'integrity', code: 'body_unreadable' },
  ),
  forged(
    'an amount with a leading zero',
    { kind: 'TokensBurned', from: '"burnedBaseUnits":"', to: '"burnedBaseUnits":"0' },
    { aspect: 'integrity', code: 'body_unreadable' },
  ),
]
