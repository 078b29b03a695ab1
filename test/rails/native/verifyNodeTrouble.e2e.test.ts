import type { TransactionInstruction } from '@solana/web3.js'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { encodeBase58 } from '@tollbook/core/base58'
import { Fault } from '@tollbook/core/fault'
import { verdictOf } from '../../chain/cases/verificationCase.ts'
import { burn, payment, relayed } from '../../chain/fixtureTokens.ts'
import { signedThroughTable } from '../../chain/lookupTable.ts'
import { type Customer, due, gross, newCustomer, signedBy, stage } from '../../chain/chainFixture.ts'
import {
  type VerifierFixture,
  openVerifierFixture,
  passLandingBound,
  present,
  quoteFor,
  signatureProof,
  transactionProof,
} from '../../chain/verifierFixture.ts'
import { type Tamper, errorReply, resultReply } from '../../chain/tamperingNode.ts'
import { createTestDatabase } from '../../support/database.ts'

/*
 * A node that breaks while a transaction is rehearsed and sent, or while a balance is asked for. That is never a
 * verdict on the payment (I8), and nothing is sent that has not been rehearsed.
 */
let verifier: VerifierFixture

beforeAll(async () => {
  verifier = await openVerifierFixture('Token-2022 with a transfer fee', (await createTestDatabase()).serviceUrl)
  verifier.clock.onSleep(() => verifier.chain.advanceSlots(1))
})
afterAll(() => verifier.close())
beforeEach(() => verifier.node.behave())

interface Prepared {
  readonly payer: Customer
  readonly header: string
}

/** A payment that is good, with inner instructions and a lookup table, so that an answer has all that it can have. */
async function preparePayment(more = 0n): Promise<Prepared> {
  const payer = await newCustomer(verifier)
  await quoteFor(verifier, payer)
  const instructions = payment(verifier, payer, { send: gross(verifier, due(verifier)) + more }).map(relayed)
  const transaction = await signedThroughTable(verifier, instructions, [payer.keypair])
  return { payer, header: transactionProof(transaction.serialize()) }
}

async function preparePlain(instructions: (payer: Customer) => readonly TransactionInstruction[]): Promise<Prepared> {
  const payer = await newCustomer(verifier)
  await quoteFor(verifier, payer)
  const transaction = await signedBy(verifier.connection, instructions(payer), [payer.keypair])
  return { payer, header: transactionProof(transaction.serialize()) }
}

const simulationAnswer = z.object({ result: z.object({ context: z.unknown(), value: z.looseObject({}) }) })

/** The chain's own rehearsal, less some of its fields. */
function without(...fields: readonly string[]): Tamper {
  return async ({ forward }) => {
    const { result } = simulationAnswer.parse(JSON.parse(await forward()))
    const missing = Object.fromEntries(fields.map((field) => [field, undefined]))
    return resultReply({ ...result, value: { ...result.value, ...missing } })
  }
}

const simulationTroubles: readonly (readonly [string, Tamper])[] = [
  ['HTTP 500', () => ({ status: 500, text: '' })],
  ['a cut connection', () => 'cut'],
  ['no JSON', () => ({ status: 200, text: 'busy' })],
  ['error -32603', () => errorReply(-32603, 'internal error')],
  ['error -32602', () => errorReply(-32602, 'invalid params')],
  ['an empty answer', () => resultReply({ context: {}, value: {} })],
  ['no err', without('err')],
  ['no inner instructions', without('innerInstructions')],
  ['no loaded addresses for a lookup table', without('loadedAddresses')],
]

for (const [says, tamper] of simulationTroubles) {
  test(`14a a simulation with ${says} is a temporary fault, and nothing is sent (I8)`, async () => {
    const { payer, header } = await preparePayment()
    verifier.node.answer('simulateTransaction', tamper)

    const thrown = await present(verifier, payer, header).catch((error: unknown) => error)

    expect(thrown).toBeInstanceOf(Fault)
    expect(thrown).toMatchObject({ retryable: true })
    expect(verifier.node.asked).not.toContain('sendTransaction')
    verifier.node.behave()
    expect(verdictOf(await present(verifier, payer, header)), 'the proof is as good as before').toBe('accepted')
  })
}

describe('14b a node that reports no token balances of a simulation', () => {
  beforeEach(() => verifier.node.answer('simulateTransaction', without('preTokenBalances', 'postTokenBalances')))

  test('sends a full payment, which is then judged by what landed', async () => {
    const { payer, header } = await preparePayment()

    expect(verdictOf(await present(verifier, payer, header))).toBe('accepted')
  })

  test('does not send one that is one base unit short, counting the transfer fee', async () => {
    const { payer, header } = await preparePayment(-1n)

    expect(verdictOf(await present(verifier, payer, header))).toBe('transfer_insufficient')
    expect(verifier.node.asked).not.toContain('sendTransaction')
  })

  test('does not send one that burns too little', async () => {
    const { payer, header } = await preparePlain((from) =>
      payment(verifier, from, { burn: verifier.price.burnBaseUnits - 1n }),
    )

    expect(verdictOf(await present(verifier, payer, header))).toBe('burn_insufficient')
    expect(verifier.node.asked).not.toContain('sendTransaction')
  })
})

test('14b balances of one side only count as missing', async () => {
  const { payer, header } = await preparePayment()
  verifier.node.answer('simulateTransaction', without('postTokenBalances'))

  expect(verdictOf(await present(verifier, payer, header))).toBe('accepted')
})

const balanceTroubles: readonly (readonly [string, Tamper])[] = [
  ['HTTP 500', () => ({ status: 500, text: '' })],
  ['error -32602', () => errorReply(-32602, 'invalid params')],
  ['whole accounts in place of their amounts', wholeAccounts],
  ['an empty answer', () => resultReply({})],
]

for (const [says, tamper] of balanceTroubles) {
  test(`14c a balance that comes as ${says} is a fault, not an empty wallet (I8)`, async () => {
    const payer = await newCustomer(verifier, 1n)
    verifier.node.answer('getTokenAccountsByOwner', tamper)

    await expect(present(verifier, payer, signatureProof(encodeBase58(Buffer.alloc(64, 9))))).rejects.toMatchObject({
      retryable: true,
    })
  })
}

/** The bytes of a token account begin with the mint, which would read as an amount. */
function wholeAccounts(): ReturnType<Tamper> {
  const data = [Buffer.alloc(165, 1).toString('base64'), 'base64']
  return resultReply({ context: {}, value: [{ account: { data } }] })
}

test('14d a node that does not say how far it is final is not evidence of an expiry (I8)', async () => {
  const { payer, header } = await preparePayment()
  verifier.node.answer('sendTransaction', () => 'cut')
  await expect(present(verifier, payer, header)).rejects.toThrow(Fault)
  verifier.node.behave()
  await passLandingBound(verifier)
  verifier.node.answer('getEpochInfo', () => errorReply(-32602, 'invalid params'))

  expect(verdictOf(await present(verifier, payer, header))).toBe('PAYMENT_PENDING')
})

test('14d a node that does not know the time of the block yet is a fault, not a payment of any age (I8)', async () => {
  const { payer, header } = await preparePayment()
  verifier.node.answer('getTransaction', async ({ forward }) => {
    const answer = z.object({ result: z.looseObject({}).nullable() }).parse(JSON.parse(await forward()))
    return resultReply(answer.result === null ? null : { ...answer.result, blockTime: null })
  })

  await expect(present(verifier, payer, header)).rejects.toMatchObject({ retryable: true })
})

test('14e what a node says of a sending does not matter, only what is on chain', async () => {
  const { payer, header } = await preparePayment()
  verifier.node.answer('sendTransaction', async ({ forward }) => {
    await forward()
    return errorReply(-32002, 'this transaction has already been processed')
  })

  expect(verdictOf(await present(verifier, payer, header))).toBe('accepted')
})

test('14f a rehearsal in a fork that is dropped before the wallet is read is not a verdict (I8)', async () => {
  const { payer, header } = await preparePlain((from) => payment(verifier, from))
  const fork = verifier.chain.markFork()
  const emptied = burn(verifier, { from: payer.account, by: payer.address, amount: 10_000_000n })
  await stage(verifier, [emptied], [payer.keypair])
  verifier.chain.advanceSlots(2)
  verifier.node.answer('simulateTransaction', async ({ forward }) => {
    const text = await forward()
    verifier.chain.dropFork(fork)
    verifier.chain.advanceSlots(40)
    verifier.node.behave()
    return { status: 200, text }
  })

  expect(verdictOf(await present(verifier, payer, header))).toBe('PAYMENT_PENDING')
  expect(verdictOf(await present(verifier, payer, header))).toBe('accepted')
})
