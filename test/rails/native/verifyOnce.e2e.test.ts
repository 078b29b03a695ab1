import { getAccount } from '@solana/spl-token'
import type { Transaction } from '@solana/web3.js'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { transactionReference } from '../../../src/payment/paymentReference.ts'
import type { PaymentState } from '../../../src/payment/payment.ts'
import { isRefusal } from '@tollbook/core/refusal'
import { encodeBase58 } from '@tollbook/core/base58'
import { assertPresent } from '@tollbook/core/assert'
import { Fault } from '@tollbook/core/fault'
import { randomBytesOf } from '@tollbook/core/id'
import { verdictOf } from '../../chain/cases/verificationCase.ts'
import { memo, payment, transferChecked } from '../../chain/fixtureTokens.ts'
import { type Customer, due, newCustomer, priceOf, signatureOf, signedBy, stage } from '../../chain/chainFixture.ts'
import {
  type VerifierFixture,
  listRequiredBaseUnits,
  openVerifierFixture,
  passLandingBound,
  orderOf,
  present,
  proofMaxAgeMs,
  quoteFor,
  quoteGraceMs,
  signatureProof,
  transactionProof,
} from '../../chain/verifierFixture.ts'
import { answered, loseAnswer, resultReply } from '../../chain/tamperingNode.ts'
import { createTestDatabase } from '../../support/database.ts'

/*
 * A transaction that we send for a caller, when answers are lost, late, or overtaken by the chain. In every case the
 * caller's one transaction is the only one, and no caller is asked to pay again while it may still land (I8).
 */
let verifier: VerifierFixture

beforeAll(async () => {
  verifier = await openVerifierFixture('SPL Token', (await createTestDatabase()).serviceUrl)
})
afterAll(() => verifier.close())
beforeEach(() => {
  verifier.node.behave()
  confirmWhileWaiting(true)
})

interface Presentable {
  readonly payer: Customer
  readonly header: string
  readonly transaction: Transaction
  readonly receivedBeforeBaseUnits: bigint
}

async function signPayment(tokens?: bigint): Promise<Presentable> {
  const payer = await newCustomer(verifier, tokens)
  await quoteFor(verifier, payer)
  const transaction = await signedBy(verifier.connection, payment(verifier, payer), [payer.keypair])
  const receivedBeforeBaseUnits = await receivedBaseUnits()
  verifier.chain.forgetRequestCounts()
  return { payer, transaction, header: transactionProof(transaction.serialize()), receivedBeforeBaseUnits }
}

async function receivedBaseUnits(): Promise<bigint> {
  return (await getAccount(verifier.connection, verifier.paymentAccount, 'processed', verifier.program)).amount
}

function signatureIn({ transaction }: Presentable): string {
  return encodeBase58(assertPresent(transaction.signature, 'it is signed'))
}

async function bookedState(presentable: Presentable): Promise<PaymentState> {
  const reference = transactionReference(signatureOf(signatureIn(presentable)))
  const { wallet } = orderOf(presentable.payer)
  return (await verifier.ledger.lookUp({ reference, wallet, idempotencyKey: undefined })).payment
}

function confirmWhileWaiting(on: boolean): void {
  verifier.clock.onSleep(() => verifier.chain.advanceSlots(on ? 1 : 0))
}

/** The payer itself sends it, past us. */
async function sendDirectly({ transaction }: Presentable): Promise<void> {
  await verifier.connection.sendRawTransaction(transaction.serialize(), { skipPreflight: true })
}

function sentToChain(): number {
  return verifier.chain.requestCounts().get('sendTransaction') ?? 0
}

test('12a a transaction that is sent is on record first, and is sent exactly as it was presented', async () => {
  const presentable = await signPayment()
  let stateAtSending: PaymentState | undefined
  verifier.node.answer('sendTransaction', async ({ forward }) => {
    stateAtSending = await bookedState(presentable)
    return answered(await forward())
  })

  const judged = await present(verifier, presentable.payer, presentable.header)

  expect(verdictOf(judged)).toBe('accepted')
  expect(stateAtSending).toMatchObject({ phase: 'submitted', wallet: presentable.payer.address.toBase58() })
  expect(judged).toMatchObject({
    reference: `solana:${signatureIn(presentable)}`,
    evidence: { transactionBase64: presentable.transaction.serialize().toString('base64') },
  })
})

test('12b the answer to a sending is lost: the next presentation finds the payment and sends nothing (I8)', async () => {
  const presentable = await signPayment()
  verifier.node.answer('sendTransaction', loseAnswer)
  await expect(present(verifier, presentable.payer, presentable.header)).rejects.toThrow(Fault)
  verifier.node.behave()
  verifier.chain.advanceSlots(1)

  const judged = await present(verifier, presentable.payer, presentable.header)

  expect(verdictOf(judged)).toBe('accepted')
  expect(sentToChain()).toBe(1)
  expect(verifier.node.asked).toEqual(['getGenesisHash', 'getTransaction'])
  expect((await receivedBaseUnits()) - presentable.receivedBeforeBaseUnits).toBe(due(verifier))
})

test('12b the sending itself is lost: the next presentation sends the same bytes again', async () => {
  const presentable = await signPayment()
  verifier.node.answer('sendTransaction', () => 'cut')
  await expect(present(verifier, presentable.payer, presentable.header)).rejects.toThrow(Fault)
  expect(await bookedState(presentable)).toMatchObject({ phase: 'submitted' })
  verifier.node.behave()

  const judged = await present(verifier, presentable.payer, presentable.header)

  expect(verdictOf(judged)).toBe('accepted')
  expect(judged).toMatchObject({ reference: `solana:${signatureIn(presentable)}` })
  expect(verifier.node.asked).not.toContain('simulateTransaction')
  expect((await receivedBaseUnits()) - presentable.receivedBeforeBaseUnits).toBe(due(verifier))
})

test('12c a transaction that is not confirmed in time is pending, and the next presentation sends nothing', async () => {
  const presentable = await signPayment()
  confirmWhileWaiting(false)

  const pending = await present(verifier, presentable.payer, presentable.header)
  verifier.chain.advanceSlots(1)
  const judged = await present(verifier, presentable.payer, presentable.header)

  expect(pending).toMatchObject({ code: 'PAYMENT_PENDING', retryAfterSeconds: 2 })
  expect(verdictOf(judged)).toBe('accepted')
  expect(sentToChain()).toBe(1)
})

test('12c twenty concurrent presentations pay once, and none is reported as unpaid', async () => {
  const presentable = await signPayment()

  const judged = await Promise.all(
    Array.from({ length: 20 }, () => present(verifier, presentable.payer, presentable.header)),
  )

  const verdicts = judged.map(verdictOf)
  expect(verdicts).toContain('accepted')
  const harmless = new Set<string>(['accepted', 'PAYMENT_IN_PROGRESS', 'PAYMENT_PENDING'])
  expect(verdicts.filter((verdict) => !harmless.has(verdict))).toEqual([])
  // Some find it on record and not on chain yet, and send it again; the chain takes the same bytes once.
  expect((await receivedBaseUnits()) - presentable.receivedBeforeBaseUnits).toBe(due(verifier))
})

test('12c a request that is overtaken while it rehearses does not send the transaction again', async () => {
  const { payer, header } = await signPayment()
  verifier.node.answer('simulateTransaction', async ({ forward }) => {
    const rehearsal = await forward()
    verifier.node.behave()
    expect(verdictOf(await present(verifier, payer, header))).toBe('accepted')
    return answered(rehearsal)
  })

  const overtaken = await present(verifier, payer, header)

  expect(overtaken).toMatchObject({ code: 'PAYMENT_IN_PROGRESS', retryAfterSeconds: 1 })
  expect(sentToChain()).toBe(1)
})

test('12d what was sent, never landed and cannot land any more is refused for good', async () => {
  const presentable = await signPayment()
  verifier.node.answer('sendTransaction', () => 'cut')
  await expect(present(verifier, presentable.payer, presentable.header)).rejects.toThrow(Fault)
  verifier.node.behave()
  await passLandingBound(verifier)
  const askedAtMs = verifier.clock.nowMs()

  const judged = await present(verifier, presentable.payer, presentable.header)

  expect(verdictOf(judged)).toBe('blockhash_expired')
  // A further order of the wallet asks the same question first, so nothing is awaited or sent for it.
  expect([verifier.clock.nowMs() - askedAtMs, sentToChain()]).toEqual([0, 0])
})

test('12d what was sent and never landed is pending while the finalized chain is not past its last block', async () => {
  const presentable = await signPayment()
  await verifier.nodes.poll()
  confirmWhileWaiting(false)
  verifier.node.answer('sendTransaction', () => 'cut')
  await expect(present(verifier, presentable.payer, presentable.header)).rejects.toThrow(Fault)
  verifier.node.behave()
  // Its blockhash is invalid by now, and a node that reports it may still lack older blocks.
  verifier.chain.advanceSlots(160)
  await verifier.nodes.poll()

  expect(verdictOf(await present(verifier, presentable.payer, presentable.header))).toBe('PAYMENT_PENDING')
})

test('12d what was sent and is confirmed just as its blockhash expires is accepted (I8)', async () => {
  const presentable = await signPayment()
  verifier.node.answer('sendTransaction', () => 'cut')
  await expect(present(verifier, presentable.payer, presentable.header)).rejects.toThrow(Fault)
  verifier.chain.advanceSlots(149)
  await sendDirectly(presentable)
  verifier.node.answer('isBlockhashValid', async ({ forward }) => {
    verifier.chain.advanceSlots(10)
    return answered(await forward())
  })

  expect(verdictOf(await present(verifier, presentable.payer, presentable.header))).toBe('accepted')
})

test('12d what the payer sent itself and is confirmed just as its blockhash expires is accepted (I8)', async () => {
  const presentable = await signPayment()
  verifier.chain.advanceSlots(149)
  await sendDirectly(presentable)
  // A validator looks at the age of the blockhash first, and does not remember signatures for longer than that.
  verifier.node.answer('simulateTransaction', () => {
    verifier.chain.advanceSlots(10)
    return resultReply({ context: { slot: 1 }, value: { err: 'BlockhashNotFound', innerInstructions: null } })
  })

  expect(verdictOf(await present(verifier, presentable.payer, presentable.header))).toBe('accepted')
})

test('12e a payment that we sent in time is accepted, however late the caller returns', async () => {
  const presentable = await signPayment()
  confirmWhileWaiting(false)
  expect(verdictOf(await present(verifier, presentable.payer, presentable.header))).toBe('PAYMENT_PENDING')
  verifier.chain.advanceSlots(1)
  verifier.clock.advance(2 * proofMaxAgeMs)

  expect(verdictOf(await present(verifier, presentable.payer, presentable.header))).toBe('accepted')
})

/** A payment of half the list price, with a quote at that price that lapses so soon. */
async function signLapsing(lapsesInMs: number): Promise<Pick<Presentable, 'payer' | 'header'>> {
  const payer = await newCustomer(verifier)
  const price = priceOf(verifier.terms, listRequiredBaseUnits / 2n)
  const expiresAtMs = verifier.clock.nowMs() + lapsesInMs - quoteGraceMs
  await quoteFor(verifier, payer, { ...price, expiresAtMs, issuedAtMs: expiresAtMs - 1_000 })
  const changes = { burn: price.burnBaseUnits, send: price.requiredBaseUnits - price.burnBaseUnits }
  const transaction = await signedBy(verifier.connection, payment(verifier, payer, changes), [payer.keypair])
  verifier.chain.forgetRequestCounts()
  return { payer, header: transactionProof(transaction.serialize()) }
}

test('12f what might land after its quote has lapsed is not sent, because it would then buy nothing', async () => {
  const { payer, header } = await signLapsing(60_000)

  const judged = await present(verifier, payer, header)

  expect(verdictOf(judged)).toBe('burn_insufficient')
  expect(sentToChain()).toBe(0)
})

test('12f what cannot land after its quote has lapsed is sent', async () => {
  const { payer, header } = await signLapsing(61_000)

  const judged = await present(verifier, payer, header)

  expect(verdictOf(judged)).toBe('accepted')
  expect(judged).toMatchObject({ price: { requiredBaseUnits: listRequiredBaseUnits / 2n } })
})

test('13a a signature that is not on chain is waited for, and then to be presented again', async () => {
  const presentable = await signPayment()
  const startedAtMs = verifier.clock.nowMs()

  const judged = await present(verifier, presentable.payer, signatureProof(signatureIn(presentable)))

  expect(judged).toMatchObject({ code: 'INVALID_PAYMENT', reason: 'not_found', retryAfterSeconds: 2 })
  expect(verifier.clock.nowMs() - startedAtMs).toBe(1_000)
  const counts = new Map([
    ['getTransaction', 1],
    ['getSignatureStatuses', 1],
    ['getTokenAccountsByOwner', 1],
  ])
  expect(verifier.chain.requestCounts()).toEqual(counts)
  await present(verifier, presentable.payer, signatureProof(signatureIn(presentable)))
  expect(verifier.chain.requestCounts(), 'it is remembered for a moment').toEqual(counts)
})

test('13a another made-up signature of a wallet that can pay costs two calls', async () => {
  const presentable = await signPayment()
  await present(verifier, presentable.payer, signatureProof(signatureIn(presentable)))
  verifier.chain.forgetRequestCounts()
  const another = signatureProof(encodeBase58(randomBytesOf(64)))
  verifier.clock.advance(10_000)

  expect(verdictOf(await present(verifier, presentable.payer, another))).toBe('not_found')
  expect(verifier.chain.requestCounts()).toEqual(
    new Map([
      ['getTransaction', 1],
      ['getSignatureStatuses', 1],
    ]),
  )
})

test('13a a signature that arrives while it is waited for is accepted', async () => {
  const presentable = await signPayment()
  await sendDirectly(presentable)

  expect(verdictOf(await present(verifier, presentable.payer, signatureProof(signatureIn(presentable))))).toBe(
    'accepted',
  )
})

test('13b a signature that is not on chain, from a wallet that could not pay: insufficient balance', async () => {
  const presentable = await signPayment(1n)

  const judged = await present(verifier, presentable.payer, signatureProof(signatureIn(presentable)))

  expect(verdictOf(judged)).toBe('INSUFFICIENT_BALANCE')
  expect(isRefusal(judged) && judged.message).toContain('the wallet has 0.000001 of ')
})

test('13b a wallet that holds exactly what its quote asks is not short', async () => {
  const presentable = await signPayment(verifier.price.requiredBaseUnits)

  const judged = await present(verifier, presentable.payer, signatureProof(signatureIn(presentable)))

  expect(verdictOf(judged)).toBe('not_found')
})

test('13b a wallet that can pay its quote, though not what a quote would be now, is not short', async () => {
  const presentable = await signPayment(2n * verifier.price.requiredBaseUnits)

  const judged = await present(verifier, presentable.payer, signatureProof(signatureIn(presentable)))

  expect(verdictOf(judged)).toBe('not_found')
})

test('13b a payment that empties the wallet while we look is not taken for an empty wallet (I8)', async () => {
  const presentable = await signPayment(verifier.price.requiredBaseUnits)
  confirmWhileWaiting(false)
  verifier.node.answer('getTokenAccountsByOwner', async ({ forward }) => {
    await sendDirectly(presentable)
    verifier.chain.advanceSlots(1)
    return answered(await forward())
  })

  expect(verdictOf(await present(verifier, presentable.payer, signatureProof(signatureIn(presentable))))).toBe(
    'accepted',
  )
})

/** A payment for a quote, which names the quote in its memo. */
async function signBound(payer: Customer): Promise<string> {
  const { quote, secret } = await quoteFor(verifier, payer)
  const instructions = [...payment(verifier, payer), memo(quote.memo)]
  const transaction = await signedBy(verifier.connection, instructions, [payer.keypair])
  verifier.chain.forgetRequestCounts()
  return transactionProof(transaction.serialize(), secret)
}

function askedOf(method: string): number {
  return verifier.chain.requestCounts().get(method) ?? 0
}

test('a bound payment of a wallet that has just paid is not rehearsed before the node that takes it rehearses it', async () => {
  const payer = await newCustomer(verifier, 100n * verifier.price.requiredBaseUnits)
  expect(verdictOf(await present(verifier, payer, await signBound(payer)))).toBe('accepted')
  expect([askedOf('simulateTransaction'), sentToChain()]).toEqual([1, 1])

  expect(verdictOf(await present(verifier, payer, await signBound(payer)))).toBe('accepted')
  expect([askedOf('simulateTransaction'), sentToChain(), askedOf('getTransaction')]).toEqual([0, 1, 1])
})

test('a wallet that has just paid and is empty now is pending until its payment cannot land any more', async () => {
  const payer = await newCustomer(verifier, 100n * verifier.price.requiredBaseUnits)
  expect(verdictOf(await present(verifier, payer, await signBound(payer)))).toBe('accepted')
  const held = await getAccount(verifier.connection, payer.account, 'confirmed', verifier.program)
  const all = { from: payer.account, by: payer.address, amount: held.amount }
  await stage(verifier, [transferChecked(verifier, all)], [payer.keypair])
  const receivedBeforeBaseUnits = await receivedBaseUnits()
  const header = await signBound(payer)

  expect(verdictOf(await present(verifier, payer, header))).toBe('PAYMENT_PENDING')
  expect([askedOf('simulateTransaction'), sentToChain()]).toEqual([0, 1])
  await passLandingBound(verifier)
  expect(verdictOf(await present(verifier, payer, header))).toBe('blockhash_expired')
  expect(await receivedBaseUnits()).toBe(receivedBeforeBaseUnits)
})
