import { TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { recordFinality, noFinalityMemory } from '../../src/jobs/finalityJob.ts'
import { recordStep } from '../../src/jobs/recordStep.ts'
import { scanTransfers } from '../../src/jobs/transferScanJob.ts'
import { decideFinality } from '../../src/payment/finality.ts'
import { mayUse } from '../../src/payment/paymentUse.ts'
import { transferBaseUnits } from '@tollbook/core/quote'
import { newCustomer, sendAndConfirm } from '../chain/chainFixture.ts'
import { openNonce, signWithNonce } from '../chain/durableNonce.ts'
import { payment } from '../chain/fixtureTokens.ts'
import { planForkedTable } from '../chain/lookupTable.ts'
import { claimOf, fulfilmentOf } from '../store/samplePayment.ts'
import { mustAppend } from '../store/instance.ts'
import { transactionReference } from '../../src/payment/paymentReference.ts'
import {
  balances,
  expectAuditHolds,
  finalityRound,
  onChain,
  openLifecycleFixture,
  type Paid,
  pay,
  refundRound,
  sendTokens,
  serve,
  settlementOf,
  stateOf,
} from './lifecycleFixture.ts'

const environment = await openLifecycleFixture('SPL Token')
const { fixture, deps, clock, ledger } = environment
const memory = noFinalityMemory()
const { price } = fixture
const owed = transferBaseUnits(price)

const round = () => finalityRound(environment, memory)
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
  const { settlement } = await pay(environment)
  await serve(environment, settlement)
  await round()
  expect(await stateOf(environment, settlement.reference)).toMatchObject({ phase: 'fulfilled', isFinal: false })
  expect(await exposure()).toBe(price.requiredBaseUnits)
  fixture.chain.advanceSlots(32)
  await round()
  await round()
  expect(await stateOf(environment, settlement.reference)).toMatchObject({ phase: 'fulfilled', isFinal: true })
  expect(await exposure()).toBe(0n)
  expect(environment.steps.filter((step) => step === 'finalized')).toHaveLength(1)
  expect((await balances(environment))['Assets:PaymentWallet']).toBe(await onChain(environment))
})

test('a payment in the middle of a claim is left alone, so its delivery is never lost to its finality', async () => {
  const { settlement } = await pay(environment)
  const { attemptId, change } = claimOf(settlement)
  const { after } = await mustAppend(ledger, change)
  fixture.chain.advanceSlots(32)
  await round()
  await mustAppend(ledger, fulfilmentOf(settlement, { before: after, attemptId }))
  await round()
  expect(await stateOf(environment, settlement.reference)).toMatchObject({ phase: 'fulfilled', isFinal: true })
})

test('a payment that was served and dropped with its fork becomes our loss, and ledger, burns and chain agree again', async () => {
  const [before, burnsBefore] = [await balances(environment), await burned()]
  const fork = fixture.chain.markFork()
  const { settlement } = await pay(environment, 5n)
  await serve(environment, settlement)
  expect((await balances(environment))['Assets:PaymentWallet']).toBe(await onChain(environment))
  fixture.chain.dropFork(fork)

  fixture.chain.advanceSlots(100)
  await round()
  clock.advance(60_000)
  await round()
  expect(await stateOf(environment, settlement.reference), 'it could still land').toMatchObject({ phase: 'fulfilled' })

  fixture.chain.advanceSlots(longAgo)
  await round()
  await round()
  expect(await stateOf(environment, settlement.reference), 'one check is not enough').toMatchObject({
    phase: 'fulfilled',
  })
  clock.advance(10_000)
  await round()
  expect(await stateOf(environment, settlement.reference)).toMatchObject({ phase: 'reversed', isFinal: false })
  const after = await balances(environment)
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
  expect(after['Assets:PaymentWallet']).toBe(await onChain(environment))
  expect(await burned()).toEqual(burnsBefore)
  expect(await exposure()).toBe(0n)
  expect(memory.lastReversalMs).toBe(clock.nowMs())
})

test('a dropped payment without a delivery costs nothing, and buys nothing any more', async () => {
  const before = await balances(environment)
  const fork = fixture.chain.markFork()
  const paid = await pay(environment)
  await serve(environment, paid.settlement, 'released')
  fixture.chain.dropFork(fork)
  fixture.chain.advanceSlots(longAgo)
  await round()
  clock.advance(10_000)
  await round()
  expect(await balances(environment)).toEqual(before)
  const state = await stateOf(environment, paid.settlement.reference)
  expect(mayUse(state, orderFor(paid), clock.nowMs())).toMatchObject({ reason: 'payment_reversed' })
})

test('a node that has put the blocks away, or does not answer, reverses nothing', async () => {
  const fork = fixture.chain.markFork()
  const { settlement } = await pay(environment)
  await serve(environment, settlement)
  fixture.chain.dropFork(fork)
  fixture.chain.advanceSlots(longAgo)
  const own = noFinalityMemory()
  fixture.chain.setNode(0, { newestState: true, historySlots: 10 })
  await recordFinality(deps, own)
  clock.advance(60_000)
  await recordFinality(deps, own)
  fixture.chain.setNode(0, { newestState: true })
  fixture.chain.failRequests({ method: 'getSignatureStatuses', times: 1, outcome: 'unavailable' })
  await expect(recordFinality(deps, own)).rejects.toMatchObject({ retryable: true })
  expect(await stateOf(environment, settlement.reference)).toMatchObject({ phase: 'fulfilled', isFinal: false })
  // Cleared away for the tests to come.
  await round()
  clock.advance(10_000)
  await round()
})

test('a dropped payment that lands again in another slot is the same payment, and becomes final there', async () => {
  const customer = await newCustomer(fixture)
  const fork = fixture.chain.markFork()
  const { settlement } = await pay(environment, 0n, customer)
  await serve(environment, settlement)
  fixture.chain.dropFork(fork)
  fixture.chain.advanceSlots(3)
  await sendAndConfirm(fixture, Buffer.from(settlement.evidence.transactionBase64 ?? '', 'base64'))
  fixture.chain.advanceSlots(longAgo)
  await round()
  expect(await stateOf(environment, settlement.reference)).toMatchObject({ phase: 'fulfilled', isFinal: true })
  expect((await balances(environment))['Assets:PaymentWallet']).toBe(await onChain(environment))
})

test('a dropped payment that pays another wallet where it lands again is reversed, and ledger, burns and chain agree', async () => {
  const [customer, other] = [await newCustomer(fixture), await newCustomer(fixture)]
  const burnsBefore = await burned()
  const table = await planForkedTable(fixture)
  const { blockhash } = await fixture.connection.getLatestBlockhash('processed')
  const fork = fixture.chain.markFork()
  const filled = await table.fill(fixture.paymentAccount)
  const message = new TransactionMessage({
    payerKey: customer.address,
    recentBlockhash: blockhash,
    instructions: [...payment(fixture, customer)],
  })
  const transaction = new VersionedTransaction(message.compileToV0Message([filled]))
  transaction.sign([customer.keypair])
  const settlement = await settlementOf(fixture, {
    signature: await sendAndConfirm(fixture, transaction.serialize()),
    customer,
    terms: fixture.terms,
  })
  await serve(environment, settlement)
  fixture.chain.dropFork(fork)

  await table.fill(other.account)
  fixture.chain.advanceSlots(3)
  await sendAndConfirm(fixture, transaction.serialize())
  fixture.chain.advanceSlots(32)
  await round()
  expect(await stateOf(environment, settlement.reference)).toMatchObject({ phase: 'reversed' })
  expect((await balances(environment))['Assets:PaymentWallet']).toBe(await onChain(environment))
  expect(await burned()).toEqual(burnsBefore)
})

test('a payment without a delivery for a day is owed back once it is final, and no longer buys', async () => {
  const paid = await pay(environment)
  await serve(environment, paid.settlement, 'released')
  await refundRound(environment, 0)
  expect(await stateOf(environment, paid.settlement.reference), 'not before it is final').toMatchObject({
    phase: 'released',
  })
  fixture.chain.advanceSlots(32)
  await round()
  await refundRound(environment, 86_400_000)
  expect(await stateOf(environment, paid.settlement.reference), 'not before the day is over').toMatchObject({
    phase: 'released',
  })
  await refundRound(environment, 0)
  const state = await stateOf(environment, paid.settlement.reference)
  expect(state).toMatchObject({ phase: 'refund_due' })
  const after = await balances(environment)
  expect(after[`Liabilities:RefundsDue:${paid.settlement.wallet}`]).toBe(-owed)
  expect(after['Liabilities:Unearned']).toBeUndefined()
  expect(mayUse(state, orderFor(paid), clock.nowMs())).toMatchObject({ code: 'INVALID_PAYMENT', reason: 'refund_due' })
})

test('of a claim and a refund that were decided on the same state the ledger takes exactly one', async () => {
  for (let game = 0; game < 4; game++) {
    const paid = await pay(environment)
    await serve(environment, paid.settlement, 'released')
    fixture.chain.advanceSlots(32)
    await round()
    const before = await stateOf(environment, paid.settlement.reference)
    const claim = claimOf(paid.settlement, { before }).change
    const refund = () => refundRound(environment, 0)
    const both = game % 2 === 0 ? [ledger.payments.append(claim), refund()] : [refund(), ledger.payments.append(claim)]
    const [claimed] = (await Promise.all(both)).flatMap((outcome) => outcome ?? [])
    const { phase } = await stateOf(environment, paid.settlement.reference)
    expect(phase).toBe(claimed?.outcome === 'appended' ? 'claimed' : 'refund_due')
  }
})

test('tokens without a request are owed to their sender, once, and only when it is too late to present them', async () => {
  const settleAgeMs = 3_600_000
  const scan = () => scanTransfers({ ...deps, terms: fixture.terms, settleAgeMs })
  const customer = await newCustomer(fixture)
  const signature = await sendTokens(environment, customer, 77n)
  fixture.chain.advanceSlots(32)
  await scan()
  const reference = transactionReference(signature)
  const payments = await ledger.lifecycle.loadPayments([reference])
  expect(payments.get(reference), 'it may still be presented').toBeUndefined()
  clock.advance(settleAgeMs + 1_000)
  fixture.chain.advanceSlots(1)
  await scan()
  await scan()
  expect((await balances(environment))[`Liabilities:Unmatched:${customer.address.toBase58()}`]).toBe(-77n)
  expect((await balances(environment))['Assets:PaymentWallet']).toBe(await onChain(environment))
  const state = await stateOf(environment, reference)
  const order = { wallet: fixture.terms.mint, endpoint: '/api/data/weather', digest: '' }
  expect(mayUse(state, order, clock.nowMs())).toMatchObject({ reason: 'too_old' })
  expect((await ledger.lifecycle.readScanPlace(fixture.terms.paymentTokenAccount))?.signature).toBe(signature)
})

test('of a reversed payment that landed after all the tokens are owed to their sender, and the ledger equals the chain', async () => {
  const settleAgeMs = 3_600_000
  const customer = await newCustomer(fixture)
  const fork = fixture.chain.markFork()
  const { settlement } = await pay(environment, 0n, customer)
  await serve(environment, settlement, 'released')
  fixture.chain.dropFork(fork)
  // Reversed by a node that was wrong, as no rule of ours should allow.
  const before = await stateOf(environment, settlement.reference)
  const wrong = { kind: 'reversed', reason: 'absent', finalizedSlot: 1 } as const
  const { reference } = settlement
  await recordStep(deps, { kind: 'reversed', reference, before, decision: decideFinality(before, wrong) })
  await sendAndConfirm(fixture, Buffer.from(settlement.evidence.transactionBase64 ?? '', 'base64'))
  fixture.chain.advanceSlots(32)
  clock.advance(settleAgeMs + 1_000)
  await scanTransfers({ ...deps, terms: fixture.terms, settleAgeMs })
  expect(await stateOf(environment, settlement.reference)).toMatchObject({ phase: 'unmatched' })
  expect((await balances(environment))[`Liabilities:Unmatched:${settlement.wallet}`]).toBe(-owed)
  expect((await balances(environment))['Assets:PaymentWallet']).toBe(await onChain(environment))
})

test('a payment with a durable nonce that lands after its reversal buys nothing more, and is owed to its sender once', async () => {
  const settleAgeMs = 3_600_000
  const customer = await newCustomer(fixture)
  const nonce = await openNonce(fixture, customer.keypair)
  const bytes = (await signWithNonce(fixture, nonce, payment(fixture, customer))).serialize()
  const fork = fixture.chain.markFork()
  const signature = await sendAndConfirm(fixture, bytes)
  const settlement = await settlementOf(fixture, { signature, customer, terms: fixture.terms })
  await serve(environment, settlement)
  fixture.chain.dropFork(fork)
  fixture.chain.advanceSlots(longAgo)
  await round()
  clock.advance(10_000)
  await round()
  expect(await stateOf(environment, settlement.reference)).toMatchObject({ phase: 'reversed' })
  const unmatched = `Liabilities:Unmatched:${settlement.wallet}`
  expect((await balances(environment))[unmatched], 'nothing is owed for tokens that have not arrived').toBeUndefined()

  await sendAndConfirm(fixture, bytes)
  const state = await stateOf(environment, settlement.reference)
  expect(mayUse(state, orderFor({ customer, settlement }), clock.nowMs())).toMatchObject({ reason: 'payment_reversed' })
  fixture.chain.advanceSlots(32)
  clock.advance(settleAgeMs + 1_000)
  for (const _again of [1, 2]) await scanTransfers({ ...deps, terms: fixture.terms, settleAgeMs })
  expect((await balances(environment))[unmatched]).toBe(-owed)
  expect((await balances(environment))['Assets:PaymentWallet']).toBe(await onChain(environment))
})

test('an audit of all of that, by another reading of ledger and chain, finds nothing but the prices of the lab', async () => {
  fixture.chain.advanceSlots(40)
  await expectAuditHolds(environment)
})
