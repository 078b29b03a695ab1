import { systemClock } from '@tollbook/core/clock'
import { audit } from '@tollbook/audit/audit'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { recordFinality, noFinalityMemory } from '../../src/jobs/finalityJob.ts'
import { recordStep } from '../../src/jobs/recordStep.ts'
import { scanTransfers } from '../../src/jobs/transferScanJob.ts'
import { decideFinality } from '../../src/payment/finality.ts'
import { mayUse } from '../../src/payment/payment.ts'
import { transferBaseUnits } from '@tollbook/core/quote'
import { newCustomer, sendAndConfirm } from '../chain/paymentLab.ts'
import { claimOf, fulfilmentOf } from '../store/samplePayment.ts'
import { mustAppend } from '../store/instance.ts'
import { solanaReference } from '../../src/payment/paymentReference.ts'
import {
  balances,
  finalityRound,
  onChain,
  openLifeGround,
  type Paid,
  pay,
  refundRound,
  sendTokens,
  serve,
  stateOf,
} from './lifeGround.ts'

const ground = await openLifeGround('SPL Token')
const { lab, deps, clock, ledger } = ground
const memory = noFinalityMemory()
const { price } = lab
const owed = transferBaseUnits(price)

const round = () => finalityRound(ground, memory)
const exposure = () => ledger.lifecycle.exposureBaseUnits(price.mint)

/** Enough slots that nothing of before can land any more. */
const longAgo = 400

/** Burns by hour, without the hours that are empty: an hour that was emptied again is as good as none. */
async function burned() {
  const { rows } = await sql<object>`
    select a.name, t.hour, t.amount, t.entries::int from ledger.tallies t join ledger.accounts a on a.id = t.account
    where t.amount <> 0 order by a.name, t.hour`.execute(ledger.database)
  const totals = await sql<object>`
    select name, balance, (debit_entries - (entries - debit_entries))::int as burns from ledger.accounts
    where name like 'Expenses:Burned:%' order by name`.execute(ledger.database)
  return [...rows, ...totals.rows]
}

function orderFor({ settlement }: Paid) {
  return { wallet: settlement.wallet, endpoint: settlement.price.endpoint, digest: 'ab'.repeat(32) }
}

test('a served payment is not final at once, exposes us for its price until it is, and is finalized once', async () => {
  const { settlement } = await pay(ground)
  await serve(ground, settlement)
  await round()
  expect(await stateOf(ground, settlement.reference)).toMatchObject({ phase: 'fulfilled', isFinal: false })
  expect(await exposure()).toBe(price.requiredBaseUnits)
  lab.chain.advanceSlots(32)
  await round()
  await round()
  expect(await stateOf(ground, settlement.reference)).toMatchObject({ phase: 'fulfilled', isFinal: true })
  expect(await exposure()).toBe(0n)
  expect(ground.steps.filter((step) => step === 'finalized')).toHaveLength(1)
  expect((await balances(ground))['Assets:PaymentWallet']).toBe(await onChain(ground))
})

test('a payment in the middle of a claim is left alone, so its delivery is never lost to its finality', async () => {
  const { settlement } = await pay(ground)
  const { attemptId, change } = claimOf(settlement)
  const { after } = await mustAppend(ledger, change)
  lab.chain.advanceSlots(32)
  await round()
  await mustAppend(ledger, fulfilmentOf(settlement, { before: after, attemptId }))
  await round()
  expect(await stateOf(ground, settlement.reference)).toMatchObject({ phase: 'fulfilled', isFinal: true })
})

test('a payment that was served and dropped with its fork becomes our loss, and ledger, burns and chain agree again', async () => {
  const [before, burnsBefore] = [await balances(ground), await burned()]
  const fork = lab.chain.markFork()
  const { settlement } = await pay(ground, 5n)
  await serve(ground, settlement)
  expect((await balances(ground))['Assets:PaymentWallet']).toBe(await onChain(ground))
  lab.chain.dropFork(fork)

  lab.chain.advanceSlots(100)
  await round()
  clock.advance(60_000)
  await round()
  expect(await stateOf(ground, settlement.reference), 'it could still land').toMatchObject({ phase: 'fulfilled' })

  lab.chain.advanceSlots(longAgo)
  await round()
  await round()
  expect(await stateOf(ground, settlement.reference), 'one look is not enough').toMatchObject({ phase: 'fulfilled' })
  clock.advance(10_000)
  await round()
  expect(await stateOf(ground, settlement.reference)).toMatchObject({ phase: 'reversed', isFinal: false })
  const after = await balances(ground)
  expect(after).toEqual({
    ...before,
    'Expenses:ReversedPayments': owed,
    ...Object.fromEntries(
      price.shares.map(({ account, baseUnits }) => [
        `Liabilities:Share:${account}`,
        (before[`Liabilities:Share:${account}`] ?? 0n) - baseUnits,
      ]),
    ),
  })
  expect(after['Assets:PaymentWallet']).toBe(await onChain(ground))
  expect(await burned()).toEqual(burnsBefore)
  expect(await exposure()).toBe(0n)
  expect(memory.lastReversalMs).toBe(clock.nowMs())
})

test('a dropped payment that nobody was served for costs nothing, and buys nothing any more', async () => {
  const before = await balances(ground)
  const fork = lab.chain.markFork()
  const paid = await pay(ground)
  await serve(ground, paid.settlement, 'released')
  lab.chain.dropFork(fork)
  lab.chain.advanceSlots(longAgo)
  await round()
  clock.advance(10_000)
  await round()
  expect(await balances(ground)).toEqual(before)
  const state = await stateOf(ground, paid.settlement.reference)
  expect(mayUse(state, orderFor(paid), clock.nowMs())).toMatchObject({ reason: 'payment_reversed' })
})

test('a node that has put the blocks away, or does not answer, reverses nothing', async () => {
  const fork = lab.chain.markFork()
  const { settlement } = await pay(ground)
  await serve(ground, settlement)
  lab.chain.dropFork(fork)
  lab.chain.advanceSlots(longAgo)
  const pruned = { ...deps, chain: { ...deps.chain, firstSlot: () => Promise.resolve(settlement.evidence.slot + 1) } }
  const own = noFinalityMemory()
  await recordFinality(pruned, own)
  clock.advance(60_000)
  await recordFinality(pruned, own)
  lab.chain.failRequests({ method: 'getSignatureStatuses', times: 1, outcome: 'unavailable' })
  await expect(recordFinality(deps, own)).rejects.toMatchObject({ retryable: true })
  expect(await stateOf(ground, settlement.reference)).toMatchObject({ phase: 'fulfilled', isFinal: false })
  // Cleared away for the tests to come.
  await round()
  clock.advance(10_000)
  await round()
})

test('a dropped payment that lands again in another slot is the same payment, and becomes final there', async () => {
  const customer = await newCustomer(lab)
  const fork = lab.chain.markFork()
  const { settlement } = await pay(ground, 0n, customer)
  await serve(ground, settlement)
  lab.chain.dropFork(fork)
  lab.chain.advanceSlots(3)
  await sendAndConfirm(lab, Buffer.from(settlement.evidence.transactionBase64 ?? '', 'base64'))
  lab.chain.advanceSlots(longAgo)
  await round()
  expect(await stateOf(ground, settlement.reference)).toMatchObject({ phase: 'fulfilled', isFinal: true })
  expect((await balances(ground))['Assets:PaymentWallet']).toBe(await onChain(ground))
})

test('what nobody could deliver for a day is owed back once it is final, and no longer buys', async () => {
  const paid = await pay(ground)
  await serve(ground, paid.settlement, 'released')
  await refundRound(ground, 0)
  expect(await stateOf(ground, paid.settlement.reference), 'not before it is final').toMatchObject({
    phase: 'released',
  })
  lab.chain.advanceSlots(32)
  await round()
  await refundRound(ground, 86_400_000)
  expect(await stateOf(ground, paid.settlement.reference), 'not before the day is over').toMatchObject({
    phase: 'released',
  })
  await refundRound(ground, 0)
  const state = await stateOf(ground, paid.settlement.reference)
  expect(state).toMatchObject({ phase: 'refund_due' })
  const after = await balances(ground)
  expect(after[`Liabilities:RefundsDue:${paid.settlement.wallet}`]).toBe(-owed)
  expect(after['Liabilities:Unearned']).toBeUndefined()
  expect(mayUse(state, orderFor(paid), clock.nowMs())).toMatchObject({ code: 'INVALID_PAYMENT', reason: 'refund_due' })
})

test('of a claim and a refund that were decided on the same state the ledger takes exactly one', async () => {
  for (let game = 0; game < 4; game++) {
    const paid = await pay(ground)
    await serve(ground, paid.settlement, 'released')
    lab.chain.advanceSlots(32)
    await round()
    const before = await stateOf(ground, paid.settlement.reference)
    const claim = claimOf(paid.settlement, { before }).change
    const refund = () => refundRound(ground, 0)
    const both = game % 2 === 0 ? [ledger.payments.append(claim), refund()] : [refund(), ledger.payments.append(claim)]
    const [claimed] = (await Promise.all(both)).flatMap((outcome) => outcome ?? [])
    const { phase } = await stateOf(ground, paid.settlement.reference)
    expect(phase).toBe(claimed?.outcome === 'appended' ? 'claimed' : 'refund_due')
  }
})

test('tokens that nobody asked for are owed to whoever sent them, once, and only when it is too late to present them', async () => {
  const settleAgeMs = 3_600_000
  const scan = () => scanTransfers({ ...deps, terms: lab.terms, settleAgeMs })
  const customer = await newCustomer(lab)
  const signature = await sendTokens(ground, customer, 77n)
  lab.chain.advanceSlots(32)
  await scan()
  expect((await ledger.lifecycle.loadPayments([solanaReference(signature)])).size, 'it may still be presented').toBe(0)
  clock.advance(settleAgeMs + 1_000)
  lab.chain.advanceSlots(1)
  await scan()
  await scan()
  expect((await balances(ground))[`Liabilities:Unmatched:${customer.address.toBase58()}`]).toBe(-77n)
  expect((await balances(ground))['Assets:PaymentWallet']).toBe(await onChain(ground))
  const state = await stateOf(ground, solanaReference(signature))
  const order = { wallet: lab.terms.mint, endpoint: '/api/data/weather', digest: '' }
  expect(mayUse(state, order, clock.nowMs())).toMatchObject({ reason: 'too_old' })
  expect((await ledger.lifecycle.readScanPlace(lab.terms.paymentTokenAccount))?.signature).toBe(signature)
})

test('of a reversed payment that landed after all the tokens are owed to their sender, and the ledger equals the chain', async () => {
  const settleAgeMs = 3_600_000
  const customer = await newCustomer(lab)
  const fork = lab.chain.markFork()
  const { settlement } = await pay(ground, 0n, customer)
  await serve(ground, settlement, 'released')
  lab.chain.dropFork(fork)
  // Reversed by a node that was wrong, as no rule of ours should allow.
  const before = await stateOf(ground, settlement.reference)
  const wrong = { kind: 'reversed', reason: 'absent', finalizedSlot: 1 } as const
  const { reference } = settlement
  await recordStep(deps, { kind: 'reversed', reference, before, decision: decideFinality(before, wrong) })
  await sendAndConfirm(lab, Buffer.from(settlement.evidence.transactionBase64 ?? '', 'base64'))
  lab.chain.advanceSlots(32)
  clock.advance(settleAgeMs + 1_000)
  await scanTransfers({ ...deps, terms: lab.terms, settleAgeMs })
  expect(await stateOf(ground, settlement.reference)).toMatchObject({ phase: 'unmatched' })
  expect((await balances(ground))[`Liabilities:Unmatched:${settlement.wallet}`]).toBe(-owed)
  expect((await balances(ground))['Assets:PaymentWallet']).toBe(await onChain(ground))
})

test('an audit of all of that, by another reading of ledger and chain, finds nothing but the prices of the lab', async () => {
  lab.chain.advanceSlots(40)
  const { findings, verdicts } = await audit({
    source: { kind: 'database', url: ground.database.serviceUrl },
    verifierKeys: [],
    ownCheckpoints: [],
    transactions: true,
    resumeFile: undefined,
    clock: systemClock,
    chain: {
      rpcUrl: lab.chain.rpcUrl,
      paymentWallet: lab.terms.paymentWallet,
      bookedWithinMs: 0,
      fetch: globalThis.fetch,
    },
  })
  expect(findings.filter(({ code }) => !code.startsWith('price_'))).toEqual([])
  expect(verdicts.chainTruth.status).toBe('holds')
})
