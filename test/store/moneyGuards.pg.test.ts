import { expect, test } from 'vitest'
import { assertPresent } from '@tollbook/core/assert'
import { silentLog } from '../../src/machine/log.ts'
import { decideBurnConfirm, decideBurnSubmit, evolveBurn, unknownBurn } from '../../src/payment/burn.ts'
import { signatureOf } from '../../src/payment/paymentReference.ts'
import { createBurnLedger } from '../../src/store/burnStore.ts'
import { openDatabase } from '../../src/store/database.ts'
import { readUnrecordedAttempts, recordAttempt } from '../../src/store/holderPayoutStore.ts'
import { findRecordedParts } from '../../src/store/payoutStore.ts'
import { afterFile } from '../support/afterFile.ts'
import { seedPayment, type SeededPayment } from '../reports/seedPayment.ts'
import { openPool } from '../kernel/openKernel.ts'
import { createTestDatabase } from '../support/database.ts'
import { openInstance } from './instance.ts'
import { sampleAddress, sampleMint, samplePrice, sampleReference } from './samplePayment.ts'

/* Guards of the functions of the payout, burner and finance roles that no client of ours ever meets. Two mints have debts. */

const { serviceUrl, adminUrl } = await createTestDatabase()
const ledger = await openInstance(serviceUrl)
const admin = openPool(adminUrl, 2)
const database = openDatabase({ databaseUrl: adminUrl, applicationName: 'test', connectionsMax: 2, log: silentLog })
afterFile(() => database.destroy())

const [endpoint, otherMint, wallet] = ['/api/x', sampleAddress(), sampleAddress()]
const payment: SeededPayment = {
  wallet,
  endpoint,
  requiredBaseUnits: 1_000n,
  overpaidBaseUnits: 0n,
  blockTimeMs: Date.UTC(2026, 10, 22),
  end: 'finalized',
}
const finalized = await seedPayment(ledger, payment)
const fulfilled = await seedPayment(ledger, { ...payment, end: 'fulfilled' })
await seedPayment(ledger, { ...payment, isPaidWhole: true, end: 'finalized' })
const otherPrice = { ...samplePrice(endpoint, 400n), mint: otherMint }
await seedPayment(ledger, { ...payment, price: otherPrice, isPaidWhole: true, end: 'finalized' })

const effectiveAt = '2026-11-23T00:00:00.000Z'

/** The refusal of the function; null when the ledger has recorded it. */
async function ask(functionName: string, ...bodies: readonly object[]): Promise<string | null> {
  const places = bodies.map((_, index) => `$${index + 1}`).join(', ')
  const { rows } = await admin.query<{ refusal: string | null }>(
    `select refusal from ledger.${functionName}(${places})`,
    bodies.map((body) => Buffer.from(JSON.stringify(body))),
  )
  return assertPresent(rows[0], 'the function returns a row').refusal
}

const account = 'Liabilities:Share:provider'

async function owed(mint: string, name = account): Promise<bigint> {
  const { rows } = await admin.query<{ owed: string }>(
    'select (-balance)::text as owed from ledger.accounts where mint = $1 and name = $2',
    [mint, name],
  )
  return BigInt(assertPresent(rows[0], `${name} is owed`).owed)
}

function planBody(number: number, mint: string, amountBaseUnits: bigint) {
  const planId = `payout_${String(number).padStart(32, '0')}`
  const head = { kind: 'HolderPayoutPlanned', schemaVersion: 1, version: 1, stream: `holders:${planId}`, effectiveAt }
  return { ...head, planId, mint, account, amountBaseUnits: String(amountBaseUnits), snapshotSha256: '0'.repeat(64) }
}

const endOf = (plan: ReturnType<typeof planBody>, paidBaseUnits: string) => {
  return { ...plan, kind: 'HolderPayoutEnded', version: 2, paidBaseUnits }
}

test('a plan for holders is open once for each mint, and pays no more than is owed in that mint', async () => {
  const [here, there] = [await owed(sampleMint), await owed(otherMint)]
  expect(here).toBeGreaterThan(there)
  const plan = (number: number, mint: string, amountBaseUnits: bigint) =>
    ask('record_holder_payout', planBody(number, mint, amountBaseUnits))
  expect(await plan(1, otherMint, there + 1n), 'the debt of the other mint is larger').toBe('more_than_owed')
  expect(await plan(1, otherMint, there)).toBeNull()
  expect(await plan(2, otherMint, 1n)).toBe('plan_open')
  expect(await plan(3, sampleMint, here)).toBeNull()
  const opened = planBody(1, otherMint, there)
  await expect(ask('record_holder_payout', endOf(opened, '1'))).rejects.toThrow('has paid another amount')
  const unknown = endOf(planBody(9, otherMint, there), '0')
  await expect(ask('record_holder_payout', unknown)).rejects.toThrow('is not on record')
  expect(await ask('record_holder_payout', endOf(opened, '0'))).toBeNull()
  expect(await plan(2, otherMint, 1n)).toBeNull()
})

test('a payout is refused to an unknown sender, without payments, and above the debt of its mint', async () => {
  const [reference, there] = [sampleReference(), await owed(otherMint)]
  const signature = signatureOf(reference)
  const head = { kind: 'DistributionPaid', schemaVersion: 1, version: 1, stream: reference, signature, effectiveAt }
  const paying = (of: string, paidBaseUnits: bigint) => {
    const payments = [{ account: of, wallet, paidBaseUnits: String(paidBaseUnits) }]
    return ask('record_payout', { ...head, planId: 'plan', part: 1, mint: otherMint, payments })
  }
  await expect(paying('Liabilities:Unmatched:unknown', 1n)).rejects.toThrow('unknown sender')
  await expect(ask('record_payout', { ...head, mint: otherMint, payments: [] })).rejects.toThrow('is not a')
  expect(await paying(account, there + 1n)).toBe('more_than_owed')
  expect(await paying(account, there)).toBeNull()
})

test('a round of burning waits for the one before it in its mint, and burns no more than is owed in it', async () => {
  const [here, there] = [await owed(sampleMint, 'Liabilities:BurnOwed'), await owed(otherMint, 'Liabilities:BurnOwed')]
  expect(here).toBeGreaterThan(there)
  const first = sampleReference()
  const submit = (mint: string, round: number, burnBaseUnits: bigint, stream: string = sampleReference()) => {
    const head = { kind: 'BurnSubmitted', schemaVersion: 1, version: 1, stream, effectiveAt }
    return ask('record_burn', { ...head, mint, round, burnBaseUnits: String(burnBaseUnits) })
  }
  expect(await submit(otherMint, 1, there + 1n)).toBe('more_than_owed')
  expect(await submit(otherMint, 1, there, first)).toBeNull()
  expect(await submit(otherMint, 2, there)).toBe('round_open')
  const ended = {
    kind: 'BurnFailed',
    schemaVersion: 1,
    version: 2,
    stream: first,
    mint: otherMint,
    round: 1,
    effectiveAt,
  }
  expect(await ask('record_burn', ended)).toBeNull()
  expect(await submit(sampleMint, 2, here), 'the first round of this mint is missing').toBe('round_open')
  expect(await submit(sampleMint, 1, here)).toBeNull()
  expect(await submit(otherMint, 2, there)).toBeNull()
})

async function decision(kind: string, reference: string, more: object) {
  const { rows } = await admin.query<{ login: string }>('select session_user::text as login')
  const stream = `refund:${reference.slice('solana:'.length)}`
  const head = { kind, schemaVersion: 1, version: 1, stream, payment: reference, effectiveAt, mint: sampleMint, wallet }
  return { ...head, by: 'mira', role: 'finance', reason: 'asked', login: rows[0]?.login, ...more }
}

test('a refund is granted for a final delivery only, to its wallet, in its mint and up to its price', async () => {
  const grant = async (reference: string, more: object = {}) =>
    ask('record_refund', await decision('RefundGranted', reference, { amountBaseUnits: '1000', ...more }))
  const refused = 'only a delivered and final payment'
  await expect(grant(fulfilled), 'the chain could still drop it').rejects.toThrow(refused)
  for (const more of [{ amountBaseUnits: '1001' }, { wallet: sampleAddress() }, { mint: otherMint }])
    await expect(grant(finalized, more)).rejects.toThrow(refused)
  await expect(grant(sampleReference())).rejects.toThrow('has no payment')
  expect(await grant(finalized)).toBeNull()
  expect(await grant(finalized, { version: 2 }), 'a second time').not.toBeNull()
})

test('an approval is about three debts at most, which is what a payment can owe', async () => {
  const kinds = ['Overpaid', 'RefundsDue', 'Unmatched', 'Overpaid']
  const debts = kinds.map((kind) => ({ account: `Liabilities:${kind}:${wallet}`, baseUnits: '7' }))
  const approve = async (count: number) =>
    ask('record_refund', await decision('RefundApproved', fulfilled, { debts: debts.slice(0, count) }))
  for (const count of [0, 4]) await expect(approve(count)).rejects.toThrow('is not a RefundApproved')
  expect(await approve(3)).toBeNull()
})

test('a booking whose approval is refused leaves nothing in the ledger', async () => {
  const reference = sampleReference()
  const received = { mint: sampleMint, wallet, receivedBaseUnits: '7', slot: 5 }
  const head = { kind: 'TransferReceived', schemaVersion: 1, version: 1, stream: reference, effectiveAt }
  const transfer = { ...head, ...received }
  const debts = [{ account: `Liabilities:Unmatched:${wallet}`, baseUnits: '7' }]
  const recorded = async () =>
    (
      await admin.query(`select from ledger.events where convert_from(body, 'UTF8')::jsonb ->> 'stream' = $1`, [
        reference,
      ])
    ).rowCount
  const recordBooking = async (more: object) =>
    ask('record_booking', transfer, await decision('RefundApproved', reference, { debts, ...more }))
  await expect(recordBooking({ version: 2 }), 'no decision came before it').rejects.toThrow('the approval was refused')
  await expect(recordBooking({ payment: fulfilled })).rejects.toThrow('are not a booking and its approval')
  await expect(recordBooking({ by: '' })).rejects.toThrow('is not a RefundApproved')
  expect(await recorded()).toBe(0)
  expect(await recordBooking({})).toBeNull()
  expect(await recorded()).toBe(1)
})

test('a burn that sales in dollars owe is refused until the treasury has delivered its tokens', async () => {
  const [dollar, token] = [sampleAddress(), sampleAddress()]
  const shares = [{ account: 'provider', baseUnits: 400n }]
  const price = { ...samplePrice(endpoint, 400n), mint: dollar, burnBaseUnits: 0n, shares }
  const tokenBurn = { mint: token, baseUnits: 30n }
  await seedPayment(ledger, { ...payment, price: { ...price, tokenBurn }, isPaidWhole: true, end: 'finalized' })
  expect(await owed(token, 'Liabilities:BurnOwed')).toBe(30n)
  const head = { kind: 'BurnSubmitted', schemaVersion: 1, version: 1, stream: sampleReference(), effectiveAt }
  expect(await ask('record_burn', { ...head, mint: token, round: 1, burnBaseUnits: '1' })).toBe('more_than_owed')
})

test('the rounds of one mint do not count as those of another', async () => {
  const [burned, waiting] = [sampleAddress(), sampleAddress()]
  for (const mint of [burned, waiting])
    await seedPayment(ledger, {
      ...payment,
      price: { ...samplePrice(endpoint, 400n), mint },
      isPaidWhole: true,
      end: 'finalized',
    })
  const burns = createBurnLedger(database)
  const signature = assertPresent(signatureOf(sampleReference()), 'a Solana reference')
  const parts = [{ endpoint, baseUnits: await owed(burned, 'Liabilities:BurnOwed') }]
  const delegate = { allowanceBaseUnits: 1_000n, lamports: 50_000n }
  const sent = { lastValidHeight: 900, delegate, transactionBase64: 'AA==' }
  const round = { round: 1, mint: burned, throughPosition: 5, parts, ...sent }
  const [submitted] = assertPresent(decideBurnSubmit(unknownBurn, round), 'the first round').events
  const found = { burnedBaseUnits: parts[0]?.baseUnits ?? 0n, slot: 9 }
  const [confirmed] = assertPresent(decideBurnConfirm(evolveBurn(unknownBurn, submitted), found), 'it landed').events
  for (const event of [submitted, confirmed])
    expect(await burns.record({ signature, event, effectiveAtMs: 0 })).toBe('recorded')
  expect(await burns.readRounds(burned)).toMatchObject({ lastRound: 1, open: undefined, burnedThroughPosition: 5 })
  expect(await burns.readRounds(waiting)).toMatchObject({ lastRound: 0, open: undefined, burnedThroughPosition: 0 })
})

test('a signed part stays unrecorded although another part of its plan is on record', async () => {
  const attempts = [1, 2].map((part) => {
    const signature = assertPresent(signatureOf(sampleReference()), 'a Solana reference')
    return { part, signature, lastValidHeight: 900, bytes: new Uint8Array([part]) }
  })
  for (const attempt of attempts) await recordAttempt(database, 'plan of two', { attempt, replaced: undefined })
  const signature = assertPresent(attempts[0], 'the first part').signature
  const head = { kind: 'DistributionPaid', schemaVersion: 1, version: 1, stream: `solana:${signature}`, effectiveAt }
  const payments = [{ account, wallet, paidBaseUnits: '1' }]
  const paid = { ...head, signature, planId: 'plan of two', part: 1, mint: sampleMint, payments }
  expect(await ask('record_payout', paid)).toBeNull()
  expect((await readUnrecordedAttempts(database)).map(({ part }) => part)).toEqual([2])
})

test('a part counts as paid for its own plan only, although another plan has paid parts after the same position', async () => {
  const { rows } = await admin.query<{ seq: number }>('select max(seq) as seq from ledger.events')
  const position = assertPresent(rows[0], 'the ledger has a head').seq
  for (const [planId, part] of [
    ['the first plan', 1],
    ['the other plan', 2],
  ] as const) {
    const stream = sampleReference()
    const head = { kind: 'DistributionPaid', schemaVersion: 1, version: 1, stream, effectiveAt }
    const payments = [{ account, wallet, paidBaseUnits: '1' }]
    const paid = { ...head, signature: signatureOf(stream), planId, part, mint: sampleMint, slot: 9, payments }
    expect(await ask('record_payout', paid)).toBeNull()
  }
  const partsOf = async (id: string) => [...(await findRecordedParts(database, { id, position }))]
  expect([await partsOf('the first plan'), await partsOf('the other plan')]).toEqual([[1], [2]])
})

test('no writer records a body that would stop the reports, which read all of them', async () => {
  const stream = sampleReference()
  const head = { schemaVersion: 1, version: 1, stream, signature: signatureOf(stream), effectiveAt, mint: sampleMint }
  const paid = { account, wallet, paidBaseUnits: '1' }
  const payout = { ...head, kind: 'DistributionPaid', planId: 'plan', part: 1, payments: [paid] }
  const unread: readonly object[] = [
    { part: '2026-11-23' },
    { part: undefined },
    { planId: undefined },
    { payments: [paid, { ...paid, wallet: undefined }] },
  ]
  for (const wrong of unread)
    await expect(ask('record_payout', { ...payout, ...wrong })).rejects.toThrow('is not a DistributionPaid')
  const burn = { ...head, kind: 'BurnSubmitted', round: 9, burnBaseUnits: '1', throughPosition: 'last' }
  await expect(ask('record_burn', burn)).rejects.toThrow('is not a BurnSubmitted')
  const debts = [{ account: `Liabilities:RefundsDue:${wallet}`, baseUnits: '7' }]
  const approval = await decision('RefundApproved', finalized, { debts, mint: undefined })
  await expect(ask('record_refund', approval)).rejects.toThrow('is not a RefundApproved')
  const transfer = { ...head, kind: 'TransferReceived', wallet, receivedBaseUnits: '7', slot: 'new' }
  const booked = await decision('RefundApproved', stream, { debts })
  await expect(ask('record_booking', transfer, booked)).rejects.toThrow('are not a booking and its approval')
})
