import { appendBatch } from '@tollbook/ledger/appendBatch'
import { evolveAll } from '../../src/payment/payment.ts'
import { paymentItem } from '../../src/store/paymentItem.ts'
import type pg from 'pg'
import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { assertPresent } from '@tollbook/core/assert'
import { ed25519Signer } from '@tollbook/core/ed25519'
import { openCheckpoint, signCheckpoint } from '@tollbook/core/checkpoint'
import { LedgerDamage } from '@tollbook/core/ledgerDamage'
import { isConsistent, rootFromInclusion, rootOfHashes, type TreeHead } from '@tollbook/core/merkle'
import { splitHashes } from '@tollbook/core/tiles'
import { makeReceiptKey } from '../../src/cli/local/home.ts'
import { readSealedTree } from '../../src/reports/sealedTree.ts'
import type { Ledger } from '../../src/store/openLedger.ts'
import { rootAt, sealNext, type SealerDeps } from '../../src/store/sealer.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { createTestDatabase } from '../support/database.ts'
import type { TestDatabase } from '../support/testDatabase.ts'
import { addEvents, addSealedTiles } from './addEvents.ts'
import { mustAppend, openInstance, openSessions } from './instance.ts'
import { claimOf, fulfilmentOf, sampleSettlement } from './samplePayment.ts'
import { tamper } from './tamper.ts'

const signer = ed25519Signer(makeReceiptKey())
const verifier = { name: 'tollbook/test', publicKey: signer.publicKey }
const sign = (tree: TreeHead) => signCheckpoint({ origin: 'tollbook/test', ...tree }, signer)

async function openTestLedger() {
  const database = await createTestDatabase()
  const ledger = await openInstance(database.serviceUrl)
  const admin = openSessions(database.adminUrl)
  return { database, ledger, admin, sealer: { ...ledger, sign }, tree: readSealedTree(ledger.database) }
}

/** A seal by a sealer that has just taken a lease. */
const sealCall = (values: string) =>
  `select ledger.seal('seal test', work.take_lease('seal test', 'test', 60000), ${values})`

type LedgerState = Awaited<ReturnType<typeof openTestLedger>>

async function sealAll(sealer: SealerDeps): Promise<number> {
  let steps = 0
  // A step may find the lock of a transaction that was refused and is still being undone.
  await awaitThat('everything is sealed', async () => {
    const { sealedEvents, head, checkpoint } = await sealNext(sealer)
    if (sealedEvents > 0) steps++
    return checkpoint?.size === head
  })
  return steps
}

async function leavesOf({ admin }: LedgerState): Promise<readonly Buffer[]> {
  const { rows } = await admin.query<{ leaf: Buffer }>(
    `select sha256('\\x00'::bytea || int8send(seq) || int8send((extract(epoch from recorded_at) * 1000)::bigint) || body) as leaf
     from ledger.events order by seq`,
  )
  return rows.map(({ leaf }) => leaf)
}

describe('a ledger of payments', () => {
  let records: LedgerState
  beforeAll(async () => {
    records = await openTestLedger()
    for (let payment = 0; payment < 3; payment++) await mustAppend(records.ledger, claimOf(sampleSettlement()).change)
  })

  test('nothing is sealed before there is anything', async () => {
    const empty = await openTestLedger()
    expect(await sealNext(empty.sealer)).toEqual({ sealedEvents: 0, head: 0, checkpoint: undefined })
    expect(await empty.tree.checkpoint()).toBeUndefined()
  })

  test('I23: what is signed is the root of RFC 6962 over the leaves of the events, up to the newest', async () => {
    const step = await sealNext(records.sealer)
    const leaves = await leavesOf(records)
    expect(step).toMatchObject({ sealedEvents: leaves.length, head: leaves.length })
    const note = assertPresent(await records.tree.checkpoint(), 'a checkpoint')
    const checkpoint = assertPresent(openCheckpoint(note, verifier), 'its signature holds')
    expect(checkpoint.size).toBe(leaves.length)
    expect(Buffer.from(checkpoint.root).equals(rootOfHashes(leaves))).toBe(true)
    expect(await sealNext(records.sealer)).toMatchObject({ sealedEvents: 0, checkpoint: { note } })
  })

  test('later events are sealed into a later tree that begins with the earlier one', async () => {
    const earlier = assertPresent(openCheckpoint((await records.tree.checkpoint()) ?? '', verifier), 'signed')
    await mustAppend(records.ledger, claimOf(sampleSettlement()).change)
    await sealAll(records.sealer)
    const later = assertPresent(openCheckpoint((await records.tree.checkpoint()) ?? '', verifier), 'signed')
    const proof = assertPresent(await records.tree.proveConsistency({ from: earlier.size, to: later.size }), 'a proof')
    const path = proof.path.map((hash) => Buffer.from(hash, 'base64'))
    expect(isConsistent({ earlier, later, path })).toBe(true)
    expect(openCheckpoint(proof.checkpoints.from ?? '', verifier)).toEqual(earlier)
    expect(openCheckpoint(proof.checkpoints.to ?? '', verifier)).toEqual(later)
  })

  test('two sealers at once sign once', async () => {
    const other = await openInstance(records.database.serviceUrl)
    let signatures = 0
    const counting = ({ database, election }: Ledger): SealerDeps => ({
      database,
      election,
      sign: (tree) => {
        signatures++
        return sign(tree)
      },
    })
    for (let round = 1; round <= 5; round++) {
      await mustAppend(records.ledger, claimOf(sampleSettlement()).change)
      const sealers = Array.from({ length: 8 }, (_, k) => counting(k % 2 === 0 ? records.ledger : other))
      const steps = await Promise.all(sealers.map(sealNext))
      expect(steps.filter(({ sealedEvents }) => sealedEvents > 0)).toHaveLength(1)
      expect(signatures).toBe(round)
    }
  })

  test('an append does not wait for a sealer that is in the middle of its work, and the sealer not for appends', async () => {
    await mustAppend(records.ledger, claimOf(sampleSettlement()).change)
    const session = await openSessions(records.database.serviceUrl).connect()
    await session.query('begin')
    await session.query(sealCall(`(select seq from ledger.head), sha256(''), 'a note', '{}', '{}', '{}', '{}'`))
    await mustAppend(records.ledger, claimOf(sampleSettlement()).change)
    // The sealer dies: what it had not committed was never there, and its lease is gone with it.
    const { rows } = await session.query<{ pid: number }>('select pg_backend_pid() as pid')
    session.on('error', () => undefined)
    await records.admin.query('select pg_terminate_backend($1, 5000)', [rows[0]?.pid])
    session.release(true)
    expect((await sealNext(records.sealer)).sealedEvents).toBeGreaterThan(0)

    const appender = await openSessions(records.database.serviceUrl).connect()
    await mustAppend(records.ledger, claimOf(sampleSettlement()).change)
    await appender.query('begin')
    await appendOfNothing(appender)
    expect((await sealNext(records.sealer)).sealedEvents).toBeGreaterThan(0)
    await appender.query('rollback')
    appender.release()
  })

  test('a sealer that breaks before it commits has done nothing', async () => {
    await mustAppend(records.ledger, claimOf(sampleSettlement()).change)
    const before = await records.tree.checkpoint()
    let unsealed = 0
    const onUnsealed = (events: number) => void (unsealed = events)
    const broken = { ...records.sealer, onUnsealed, sign: raise }
    await expect(sealNext(broken)).rejects.toThrow('the power is gone')
    expect(unsealed).toBe(3)
    expect(await records.tree.checkpoint()).toBe(before)
    expect((await sealNext(records.sealer)).sealedEvents).toBe(3)
  })
})

function raise(): never {
  throw new Error('the power is gone')
}

/** Takes the head's lock and changes nothing: a fulfilment without a claim is refused. */
async function appendOfNothing(session: pg.PoolClient): Promise<void> {
  const settlement = sampleSettlement()
  const { attemptId, change } = claimOf(settlement)
  const before = evolveAll(change.before, change.events, 0)
  const item = paymentItem(fulfilmentOf(settlement, { before, attemptId }))
  const [result] = await appendBatch(session, [item])
  expect(result).toEqual({ outcome: 'refused', refusal: { reason: 'conflict' } })
}

describe('a long ledger, whose older events were pruned', () => {
  // Past one full tile of the second level, and two portions past what is there as tiles only.
  const eventsCount = 66_000
  const putAwayCount = 192 * 256
  let records: LedgerState
  let steps: number
  let leaves: readonly Buffer[]
  beforeAll(async () => {
    records = await openTestLedger()
    const putAway = Array.from({ length: putAwayCount }, (_, k) => createHash('sha256').update(String(k)).digest())
    await addSealedTiles(records.admin, { leaves: putAway, sign })
    await addEvents(records.admin, eventsCount - putAwayCount)
    steps = await sealAll(records.sealer)
    leaves = [...putAway, ...(await leavesOf(records))]
  })

  test('is sealed in portions, each signed, and has the tiles of its size', async () => {
    expect(steps).toBe(Math.ceil((eventsCount - putAwayCount) / 16_384))
    const { rows } = await records.admin.query(
      'select level, count(*)::int as tiles, max(index)::int as last from ledger.tiles group by level order by level',
    )
    expect(rows).toEqual([
      { level: 0, tiles: 257, last: 256 },
      { level: 1, tiles: 1, last: 0 },
    ])
    const checkpoint = assertPresent(openCheckpoint((await records.tree.checkpoint()) ?? '', verifier), 'signed')
    expect(Buffer.from(checkpoint.root).equals(rootOfHashes(leaves))).toBe(true)
  })

  test('proves any event in a few lookups, at the newest size and at an earlier one', async () => {
    for (const position of [1, 256, 257, 65_536, 65_537, 65_792, 65_793, eventsCount]) {
      for (const treeSize of [undefined, putAwayCount + 16_384].filter(
        (size) => size === undefined || size >= position,
      )) {
        const proof = assertPresent(await records.tree.proveInclusion({ position, treeSize }), 'a proof')
        const root = rootFromInclusion({
          index: position - 1,
          size: proof.treeSize,
          leaf: assertPresent(leaves[position - 1], 'a leaf'),
          path: proof.path.map((hash) => Buffer.from(hash, 'base64')),
        })
        const signed = assertPresent(openCheckpoint(proof.checkpoint, verifier), 'signed')
        expect(signed.size).toBe(treeSize ?? eventsCount)
        expect(root === undefined ? '' : Buffer.from(root).toString('base64')).toBe(proof.root)
        expect(proof.root).toBe(Buffer.from(signed.root).toString('base64'))
      }
    }
    expect(await records.tree.proveInclusion({ position: eventsCount + 1, treeSize: undefined })).toBeUndefined()
    expect(await records.tree.proveInclusion({ position: 1, treeSize: 1_000 })).toBeUndefined()
    expect(await records.tree.proveConsistency({ from: 1, to: eventsCount + 1 })).toBeUndefined()
  })

  test('has the same root at any size, sealed or not, as its first events', async () => {
    for (const size of [putAwayCount + 1, 65_535, eventsCount]) {
      const root = await rootAt(records.ledger.database, size)
      expect(Buffer.from(root).equals(rootOfHashes(leaves.slice(0, size))), `at ${size}`).toBe(true)
    }
  })

  test('serves its tiles as C2SP tlog-tiles has them, whole and in part', async () => {
    const tile = async (path: string) =>
      splitHashes((await records.tree.tile(path)) ?? Buffer.of()).map((hash) => Buffer.from(hash))
    expect(await tile('0/000')).toEqual(leaves.slice(0, 256))
    expect(await tile('0/000.p/7')).toEqual(leaves.slice(0, 7))
    expect(await tile('0/257.p/208')).toEqual(leaves.slice(65_792))
    const [first] = await tile('1/000')
    expect(first?.equals(rootOfHashes(leaves.slice(0, 256)))).toBe(true)
    expect(await tile('1/001.p/1')).toEqual([Buffer.from(rootOfHashes(leaves.slice(65_536, 65_792)))])
    expect(await tile('2/000.p/1')).toEqual([Buffer.from(rootOfHashes(leaves.slice(0, 65_536)))])
    for (const path of [
      '0/257',
      '0/257.p/209',
      '0/258.p/1',
      '1/001.p/2',
      '2/000',
      '3/000.p/1',
      '2/001.p/1',
      '../0/000',
    ])
      expect(await records.tree.tile(path), path).toBeUndefined()
  })

  test('serves entries that hash to the leaves', async () => {
    const bundle = assertPresent(await records.tree.tile('entries/257.p/208'), 'a bundle')
    const { rows } = await records.admin.query<{ leaf: Buffer }>(
      'select leaf_hash as leaf from ledger.events where seq > 65792 order by seq',
    )
    const hashes: Buffer[] = []
    for (let at = 0; at < bundle.length; at += 2 + bundle.readUInt16BE(at)) {
      const entry = bundle.subarray(at + 2, at + 2 + bundle.readUInt16BE(at))
      hashes.push(Buffer.from(await digest(Buffer.concat([Buffer.of(0), entry]))))
    }
    expect(hashes).toEqual(rows.map(({ leaf }) => leaf))
  })
})

test('a tile past the thousandth is under x001, as C2SP tlog-tiles has it', async () => {
  const { admin, sealer, tree } = await openTestLedger()
  const putAway = Array.from({ length: 1_002 * 256 }, (_, k) => createHash('sha256').update(String(k)).digest())
  await addSealedTiles(admin, { leaves: putAway, sign })
  await addEvents(admin, 3)
  await sealAll(sealer)
  const leavesOf = (tile: number) => Buffer.concat(putAway.slice(tile * 256, tile * 256 + 256))
  expect(await tree.tile('0/999')).toEqual(leavesOf(999))
  expect(await tree.tile('0/x001/000')).toEqual(leavesOf(1_000))
  expect(await tree.tile('0/x001/001')).toEqual(leavesOf(1_001))
  expect((await tree.tile('0/x001/002.p/3'))?.length).toBe(3 * 32)
  expect((await tree.tile('entries/x001/002.p/3'))?.readUInt16BE()).toBeGreaterThan(16)
  for (const path of ['0/x001/002', '0/x001/002.p/4', '0/x001/003.p/1', '0/1000', '0/001/000', 'entries/x001/003.p/1'])
    expect(await tree.tile(path), path).toBeUndefined()
})

async function digest(bytes: Uint8Array): Promise<ArrayBuffer> {
  return crypto.subtle.digest('SHA-256', Uint8Array.from(bytes))
}

describe('I23: nothing is signed on top of', () => {
  const cases: readonly (readonly [string, string, RegExp])[] = [
    [
      'a body that has changed since it was recorded',
      `update ledger.events set body = set_byte(body, 5, get_byte(body, 5) # 1) where seq = 10`,
      /event 10 is not what was recorded/,
    ],
    [
      'a time that has changed',
      `update ledger.events set recorded_at = recorded_at + interval '1 ms' where seq = 10`,
      /event 10 is not what was recorded/,
    ],
    [
      'a leaf that has changed',
      `update ledger.events set leaf_hash = sha256('x') where seq = 10`,
      /event 10 is not what was recorded/,
    ],
    ['an event that is gone', `delete from ledger.events where seq = 10`, /of the events 7 to 15 only 8 are there/],
    [
      'an event that was sealed and then rewritten with its leaf',
      rewritten(3),
      /the tree below position 6 is not the one that checkpoint 6 was signed over/,
    ],
    [
      'another checkpoint than was signed',
      `update ledger.checkpoints set root = sha256('x')`,
      /is not the one that checkpoint 6/,
    ],
    ['a head that was set back', `update ledger.head set seq = 5`, /ends at position 5 and was sealed up to 6/],
  ]

  function rewritten(seq: number): string {
    const body = `set_byte(body, 5, get_byte(body, 5) # 1)`
    const leaf = `sha256('\\x00'::bytea || int8send(seq) || int8send((extract(epoch from recorded_at) * 1000)::bigint) || ${body})`
    return `update ledger.events set body = ${body}, leaf_hash = ${leaf} where seq = ${seq}`
  }

  let records: LedgerState
  beforeAll(async () => {
    records = await openTestLedger()
    for (let payment = 0; payment < 2; payment++) await mustAppend(records.ledger, claimOf(sampleSettlement()).change)
    await sealAll(records.sealer)
    for (let payment = 0; payment < 3; payment++) await mustAppend(records.ledger, claimOf(sampleSettlement()).change)
    await records.admin.query(
      `create schema saved; ${saved.map((name) => `create table saved.${name} as table ledger.${name}`).join(';')}`,
    )
  })
  const saved = ['events', 'checkpoints', 'head']
  const restore = saved
    .map((name) => `delete from ledger.${name}; insert into ledger.${name} select * from saved.${name}`)
    .join(';')

  test.each(cases)('%s', async (_, statement, problem) => {
    await tamper(records.admin, statement)
    await expect(sealNext(records.sealer)).rejects.toThrow(problem)
    await expect(sealNext(records.sealer)).rejects.toBeInstanceOf(LedgerDamage)
    const { rows } = await records.admin.query<{ count: number }>(
      'select count(*)::int as count from ledger.checkpoints',
    )
    expect(rows[0]?.count).toBe(1)
    await tamper(records.admin, restore)
  })

  test('what is put back as it was is sealed again', async () => {
    expect(await sealNext(records.sealer)).toMatchObject({ sealedEvents: 9, head: 15 })
  })
})

describe('the write path of the seal refuses', () => {
  let records: LedgerState
  let database: TestDatabase
  beforeAll(async () => {
    records = await openTestLedger()
    ;({ database } = records)
    await addEvents(records.admin, 800)
  })

  const tile = (
    level: number,
    index: number,
    hashes = `(select string_agg(leaf_hash, ''::bytea order by seq) from ledger.events where seq > ${index * 256} and seq <= ${index * 256 + 256})`,
  ) => `'{${level}}'::smallint[], '{${index}}'::bigint[], array[${hashes}]::bytea[], array[sha256('r')]`
  const none = `'{}', '{}', '{}', '{}'`
  const twoTiles = (...indexes: readonly [number, number]) =>
    `'{0,0}', '{${indexes.join()}}', (select array_agg(t.h order by t.i) from (select (seq - 1) / 256 as i, string_agg(leaf_hash, ''::bytea order by seq) as h from ledger.events group by 1) t where t.i in (${indexes.join()})), array[sha256('r'), sha256('s')]`

  test.each([
    ['a size beyond the newest event', `801, sha256(''), 'n', ${none}`, /events that do not exist/],
    ['a size without its tile', `300, sha256(''), 'n', ${none}`, /the tiles are not those/],
    ['a tile that is not full yet', `200, sha256(''), 'n', ${tile(0, 0)}`, /the tiles are not those/],
    ['a tile that comes later', `300, sha256(''), 'n', ${tile(0, 1)}`, /the tiles are not those/],
    ['a tile of another level', `300, sha256(''), 'n', ${tile(1, 0)}`, /the tiles are not those/],
    [
      'a tile of leaves that are not the events',
      `300, sha256(''), 'n', ${tile(0, 0, `decode(repeat('00', 8192), 'hex')`)}`,
      /not of the leaves/,
    ],
    ['a tile too much', `300, sha256(''), 'n', ${twoTiles(0, 1)}`, /the tiles are not those/],
    [
      'a tile of later events instead of its second one',
      `520, sha256(''), 'n', ${twoTiles(0, 2)}`,
      /the tiles are not those/,
    ],
    ['a root that is not a hash', `100, '\\x00', 'n', ${none}`, /checkpoints_root_is_sha256/],
    ['a size of nothing', `0, sha256(''), 'n', ${none}`, /is not newer/],
  ])('%s', async (_, values, problem) => {
    const service = openSessions(database.serviceUrl)
    await expect(service.query(sealCall(values))).rejects.toThrow(problem)
  })

  test('a size that is sealed already, and one before it', async () => {
    await sealAll(records.sealer)
    const service = openSessions(database.serviceUrl)
    for (const size of [800, 799])
      await expect(service.query(sealCall(`${size}, sha256(''), 'n', ${none}`))).rejects.toThrow(/is not newer/)
  })
})
