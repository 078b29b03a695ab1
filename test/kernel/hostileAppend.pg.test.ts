import { fileURLToPath } from 'node:url'
import { assertPresent } from '@tollbook/core/assert'
import { signatureOfBytes } from '@tollbook/core/signature'
import { readDeclaration } from './declaration.ts'
import type { Item } from '@tollbook/ledger/item'
import { createMemoryLedger } from './memoryLedger.ts'
import { expect, test } from 'vitest'
import { createTestDatabase } from '../support/database.ts'
import { arbitraryItems, seeded } from './arbitraryItems.ts'
import { findBroken } from './checkLedger.ts'
import { openPool } from './openKernel.ts'
import { callAppend, callAppendAt, rawBatch } from './rawColumns.ts'
import {
  claim,
  claimWhole,
  event,
  fulfil,
  fulfilWhole,
  mint,
  move,
  newSignature,
  oweBurn,
  payoutBody,
  release,
  wallet,
} from './sampleItems.ts'

/*
 * The append function against every role of the database, each with calls that our own programs never make: raw arrays,
 * the functions and steps of other roles, amounts that are not whole base units.
 */

const declaration = await readDeclaration(fileURLToPath(new URL('../../migrations/kinds', import.meta.url)))
const effectiveAt = '2026-11-22T03:30:00.000Z'
const roles = [
  'tollbook_service',
  'tollbook_payout',
  'tollbook_burner',
  'tollbook_operator',
  'tollbook_reader',
] as const
type Role = (typeof roles)[number]
const recordings = {
  record_payout: 'tollbook_payout',
  record_burn: 'tollbook_burner',
  change_setting: 'tollbook_operator',
} as const
type Recording = keyof typeof recordings

async function openLedger() {
  const { serviceUrl, adminUrl } = await createTestDatabase()
  const admin = openPool(adminUrl, 1)
  return { service: openPool(serviceUrl, 1), admin, record: recorder(admin) }
}

/** Calls a function as a member of the role and of no other. Returns the refusal, `taken`, or the code of an error. */
function recorder(admin: ReturnType<typeof openPool>) {
  return async (role: Role, recording: Recording, body: object): Promise<string> => {
    await admin.query(`set role ${role}`)
    try {
      const { rows } = await admin.query<{ refusal: string | null }>(`select refusal from ledger.${recording}($1)`, [
        Buffer.from(JSON.stringify(body)),
      ])
      return assertPresent(rows[0], 'a recording returns a row').refusal ?? 'taken'
    } catch (error) {
      return error instanceof Error && 'code' in error ? String(error.code) : String(error)
    } finally {
      await admin.query('reset role')
    }
  }
}

const paidBody = (stream: Uint8Array, paidBaseUnits: string, account = 'Liabilities:Share:provider'): object => {
  const said: Record<string, unknown> = JSON.parse(payoutBody(stream).toString('utf8'))
  return { ...said, payments: [{ account, wallet, paidBaseUnits }] }
}

const solanaText = (stream: Uint8Array) =>
  `solana:${assertPresent(signatureOfBytes(stream.subarray(1)), 'a stream of space 1 is a signature')}`

const { service, admin, record } = await openLedger()

test('a posting is recorded by one event, even if another counts fewer than none', async () => {
  const stream = newSignature()
  await callAppend(service, rawBatch([claim(stream)]))
  const { columns, bodies } = rawBatch([fulfil(stream, 3), claim(newSignature())])
  const damaged = { ...columns, posting_counts: [-1, 4, 1, 1, 1] }
  await expect(callAppend(service, { columns: damaged, bodies })).rejects.toThrow('fit together')
  expect(await findBroken(admin)).toEqual([])
})

const noAmounts = ['0.5', '1.5', '0', '-1', 'NaN', 'Infinity', '-Infinity'].map((amount, index) => ({
  amount,
  round: index + 1,
}))

test.each(noAmounts)('no role moves $amount base units', async ({ amount, round }) => {
  for (const item of oweBurn(newSignature())) await callAppend(service, rawBatch([item]))
  for (const [at, item] of [0, 1, 2].map((n) => [n, rawBatch([claim(newSignature())])] as const)) {
    const columns = { ...item.columns, amounts: item.columns.amounts.with(at, amount) }
    expect(await callAppend(service, { ...item, columns }), `posting ${at}`).toEqual(['overreaching'])
  }
  const stream = newSignature()
  expect(await record('tollbook_payout', 'record_payout', paidBody(stream, amount))).toBe('overreaching')
  const burn = { schemaVersion: 1, stream: solanaText(stream), mint, round, effectiveAt }
  const submitted = { ...burn, kind: 'BurnSubmitted', version: 1, burnBaseUnits: '1' }
  expect(await record('tollbook_burner', 'record_burn', submitted)).toBe('taken')
  const parts = { burnedBaseUnits: amount, parts: [{ endpoint: '/api/x', baseUnits: amount }] }
  const confirmed = { ...burn, ...parts, kind: 'BurnConfirmed', version: 2 }
  expect(await record('tollbook_burner', 'record_burn', confirmed)).toBe('overreaching')
  expect(await record('tollbook_burner', 'record_burn', { ...burn, kind: 'BurnFailed', version: 2 })).toBe('taken')
  expect(await findBroken(admin)).toEqual([])
})

test('the mark of the write path ends with each call, so that a session of a pool keeps none', async () => {
  await callAppend(service, rawBatch([claim(newSignature())]))
  await service.query("select ledger.end_notes(array['\\x01'::bytea])")
  await service.query('select ledger.forget_old_notes()')
  await service.query(
    `select ledger.record_quotes(array['one'], array['wallet'], array['/api/x'], array['memo'], array[1], array['mint'],
      array[5], array[0::bigint], array[1000::bigint], array[1])`,
  )
  const { rows } = await service.query("select current_setting('ledger.writing', true) as mark")
  expect(rows).not.toEqual([{ mark: 'on' }])
})

test('no role but the owner writes a table, and each calls its own functions alone', async () => {
  const { rows } = await admin.query<{ name: string }>(
    `select format('%s %s.%s', r.role, n.nspname, c.relname) as name
    from unnest($1::text[]) as r (role), pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname in ('ledger', 'work', 'paywall', 'news', 'reports', 'signer', 'migration') and c.relkind in ('r', 'p', 'v', 'm')
      and has_table_privilege(r.role, c.oid, 'insert, update, delete, truncate, references, trigger')`,
    [roles],
  )
  expect(rows).toEqual([])
  const { rows: callable } = await admin.query<{ name: string }>(
    `select format('%s %s.%s', r.role, n.nspname, p.proname) as name
    from unnest($1::text[]) as r (role), pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where n.nspname in ('ledger', 'work', 'paywall', 'news', 'reports', 'signer', 'migration')
      and has_function_privilege(r.role, p.oid, 'execute') and p.provolatile = 'v' and r.role <> 'tollbook_service' order by 1`,
    [roles],
  )
  const recording = Object.entries(recordings).map(([name, role]) => `${role} ledger.${name}`)
  const ofHolders = ['tollbook_payout ledger.record_holder_payout', 'tollbook_payout work.record_payout_attempt']
  expect(callable.map(({ name }) => name)).toEqual([...recording, ...ofHolders].toSorted())
})

interface Attempt {
  readonly recording: Recording
  readonly writer: string
  readonly body: object
  /** The same as an item of the model. */
  readonly item: Item
  /** Round of a burn that is submitted. */
  readonly round?: number
}

type Draw = (random: () => number) => Attempt

const pick = <T>(random: () => number, values: readonly T[]): T =>
  assertPresent(values[Math.floor(random() * values.length)], 'there is something to pick from')

/** Bodies of the other writers over few streams, rounds and settings, so that they meet one another and the service. */
function drawers(streamOf: () => Uint8Array): readonly Draw[] {
  const amount = (random: () => number) => Math.floor(random() * 400)
  const payout: Draw = (random) => {
    const stream = streamOf()
    const paid = amount(random)
    const account = pick(random, [
      'Liabilities:Share:provider',
      'Liabilities:Share:holders',
      'Liabilities:Unearned',
      'No:Such',
    ])
    const posting = move(account, 'Assets:PaymentWallet', BigInt(paid))
    const item = { stream, step: 'payout.record', expectedVersion: 0, events: [event('DistributionPaid', posting)] }
    return { recording: 'record_payout', writer: 'payout', body: paidBody(stream, String(paid), account), item }
  }
  const burn = (stream: Uint8Array, round: number) => ({
    schemaVersion: 1,
    stream: solanaText(stream),
    mint,
    round,
    effectiveAt,
  })
  const submit: Draw = (random) => {
    const stream = streamOf()
    const round = Math.floor(random() * 6)
    const keys = [{ space: 11, key: Buffer.from(`${mint}#${round}`) }]
    const item = { stream, step: 'burn.submit', expectedVersion: 0, events: [event('BurnSubmitted')], keys }
    const body = { ...burn(stream, round), kind: 'BurnSubmitted', version: 1, burnBaseUnits: '1' }
    return { recording: 'record_burn', writer: 'burner', body, item, round }
  }
  const confirm: Draw = (random) => {
    const stream = streamOf()
    const burned = amount(random)
    const postings = [
      move('Liabilities:BurnOwed', 'Assets:PaymentWallet', BigInt(burned)),
      move('Expenses:Burned:/api/x', 'Income:BurnedByCallers', BigInt(burned)),
    ]
    const item = { stream, step: 'burn.confirm', expectedVersion: 1, events: [event('BurnConfirmed', ...postings)] }
    const parts = { burnedBaseUnits: String(burned), parts: [{ endpoint: '/api/x', baseUnits: String(burned) }] }
    const body = { ...burn(stream, 1), ...parts, kind: 'BurnConfirmed', version: 2 }
    return { recording: 'record_burn', writer: 'burner', body, item }
  }
  const setting: Draw = (random) => {
    const [name, number] = [pick(random, ['payment-wallet', 'receipt-key', 'Not A Name']), Math.floor(random() * 5)]
    const stream = Uint8Array.of(3, ...Buffer.from(`${name}#${number}`))
    const item = { stream, step: 'setting.change', expectedVersion: 0, events: [event('SettingChanged')] }
    const said = {
      kind: 'SettingChanged',
      schemaVersion: 1,
      version: 1,
      stream: `${name}#${number}`,
      name,
      number,
      effectiveAt,
    }
    return {
      recording: 'change_setting',
      writer: 'operator',
      body: { ...said, validFrom: effectiveAt, value: {} },
      item,
    }
  }
  return [payout, submit, confirm, setting]
}

test.for([3])('of each role the ledger takes what the model takes, from seed %i', async (seed) => {
  const { service, admin, record } = await openLedger()
  const random = seeded(seed)
  let atMs = 0
  const clock = { nowMs: () => atMs, monotonicMs: () => atMs, sleep: () => Promise.resolve() }
  const memory = createMemoryLedger({ declaration, clock })
  let streams: readonly Uint8Array[] = []
  const streamOf = (): Uint8Array => {
    if (streams.length < 6 || random() < 0.3) streams = [...streams.slice(-5), newSignature()]
    return pick(random, streams)
  }
  const draws = drawers(streamOf)
  const ordinary = arbitraryItems(random)
  const verdicts = new Set<string>()
  const rounds = new Map<number, Uint8Array>()
  /** Rules of record_burn before the append: rounds follow one another, and burn no more than is owed. */
  const whyTooEarly = (round: number): string | undefined => {
    if (round < 1) return '23514'
    const before = rounds.get(round - 1)
    const hasEnded = before !== undefined && /^(confirmed|failed)$/.test(memory.stateOf(before)?.state ?? '')
    if (round > 1 && !hasEnded) return 'round_open'
    const owed = [...memory.balances()].find(([key]) => key.endsWith('Liabilities:BurnOwed'))?.[1] ?? 0n
    return !rounds.has(round) && owed > -1n ? 'more_than_owed' : undefined
  }
  /** Items of the service: of its own steps, of the streams of other writers, and with leases that end at once. */
  const serviceItem = (): Item => {
    const stream = streamOf()
    const price = { price: 10n + BigInt(Math.floor(random() * 500)) }
    return pick(random, [
      ordinary,
      () => claimWhole(stream, price),
      () => fulfilWhole(stream, 2, price),
      () => ({ ...claim(stream, price), leaseMs: pick(random, [1, 60_000]) }),
      () => fulfil(stream, 3, price),
      () => release(stream, 3, price),
      () => ({ ...release(stream, 3, price), step: 'payment.expire' }),
      () => pick(random, draws)(random).item,
    ])()
  }
  const compare = (found: string, { item, writer, where }: { item: Item; writer: string; where: string }) => {
    const judged = memory.appendNow(item, writer)
    const { refusal } = judged.outcome === 'refused' ? judged : {}
    const limit = (account: string) => (writer === 'payout' ? 'more_than_owed' : `limit ${account}`)
    const expected = refusal?.reason === 'limit' ? limit(refusal.account) : (refusal?.reason ?? 'taken')
    expect(found, where).toBe(expected)
    verdicts.add(`${writer} ${expected.split(' ')[0]}`)
  }
  const first = Array.from({ length: 4 }, newSignature).flatMap((stream) => [claim(stream), fulfil(stream, 3)])
  first.push(...oweBurn(newSignature()))
  for (let round = 0; round < 300; round++) {
    const prepared = first.shift()
    if (prepared !== undefined || random() < 0.4) {
      const item = prepared ?? serviceItem()
      const { verdicts: found, recordedAtMs } = await callAppendAt(service, rawBatch([item]))
      atMs = recordedAtMs
      compare(found[0] ?? 'taken', { item, writer: 'service', where: `round ${round}: ${item.step}` })
      continue
    }
    const { recording, writer, body, item, round: burnRound } = pick(random, draws)(random)
    const role = pick(random, [...roles, recordings[recording], recordings[recording]])
    const found = await record(role, recording, body)
    const where = `round ${round}: ${role} calls ${recording}`
    if (role !== recordings[recording]) {
      expect(found, where).toBe('42501')
      continue
    }
    // A payout that is on record already is answered again.
    const repeated = memory.stateOf(item.stream)?.kind === 'payout' && recording === 'record_payout'
    const early = burnRound === undefined ? undefined : whyTooEarly(burnRound)
    if (repeated || early !== undefined) {
      expect(found, where).toBe(early ?? 'taken')
      continue
    }
    if (burnRound !== undefined && found === 'taken') rounds.set(burnRound, item.stream)
    compare(found, { item, writer, where })
  }
  expect(await findBroken(admin)).toEqual([])
  const met = ['service taken', 'service not_this_step', 'service conflict', 'payout taken', 'payout more_than_owed']
  met.push('payout overreaching', 'burner taken', 'burner conflict', 'operator taken', 'operator guard')
  expect([...verdicts]).toEqual(expect.arrayContaining(met))
})
