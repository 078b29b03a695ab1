import { beforeAll, expect, test } from 'vitest'
import { assertPresent } from '@tollbook/core/assert'
import { encodeBase58 } from '@tollbook/core/base58'
import { rebroadcast, type RebroadcastDeps, type RebroadcastMemory } from '../../src/jobs/rebroadcastJob.ts'
import { followOpenWork } from '../../src/jobs/openWorkJob.ts'
import { transactionReference } from '../../src/payment/paymentReference.ts'
import { unknownPayment } from '../../src/payment/payment.ts'
import { decideSubmit } from '../../src/payment/submission.ts'
import type { Signature } from '@tollbook/core/signature'
import { payment } from '../chain/fixtureTokens.ts'
import { addressOf, newCustomer, signatureOf, signedBy } from '../chain/chainFixture.ts'
import { type LifecycleFixture, openLifecycleFixture } from './lifecycleFixture.ts'

let environment: LifecycleFixture
beforeAll(async () => {
  environment = await openLifecycleFixture('SPL Token')
})

/** A payment that this service has put on record as sent, and that no node has. */
async function submitUnheard(): Promise<Signature> {
  const { fixture, ledger, clock } = environment
  const payer = await newCustomer(fixture)
  const transaction = await signedBy(fixture.connection, payment(fixture, payer), [payer.keypair])
  const signature = signatureOf(encodeBase58(assertPresent(transaction.signature, 'it is signed')))
  const command = {
    wallet: addressOf(payer.address),
    endpoint: fixture.price.endpoint,
    quoteId: undefined,
    transactionBase64: transaction.serialize().toString('base64'),
  }
  const decision = assertPresent(decideSubmit(unknownPayment, command), 'it is new')
  const change = {
    reference: transactionReference(signature),
    before: unknownPayment,
    ...decision,
    nowMs: clock.nowMs(),
  }
  expect((await ledger.payments.append(change)).outcome).toBe('appended')
  await followOpenWork(environment.deps)
  return signature
}

function rounds(memory: RebroadcastMemory, onAbsent?: RebroadcastDeps['onAbsent']): Promise<void> {
  const absence = onAbsent === undefined ? {} : { onAbsent }
  return rebroadcast(
    { ...environment.deps, ...absence, chain: { ...environment.chain.reader, ...environment.chain.finality } },
    memory,
  )
}

test('a transaction that was put on record and never heard of is sent by the job, without a caller', async () => {
  const { fixture } = environment
  const signature = await submitUnheard()

  await rounds(new Map())
  fixture.chain.advanceSlots(2)

  expect(await environment.chain.reader.find(signature)).toMatchObject({ kind: 'found' })
})

test('a transaction that is provably absent is not sent any more, and reported until the report is taken', async () => {
  const { fixture, clock } = environment
  const memory: RebroadcastMemory = new Map()
  await environment.chain.nodes.poll()
  const signature = await submitUnheard()
  fixture.chain.failRequests({ method: 'sendTransaction', times: 1, outcome: { code: -32_603, message: 'busy' } })
  await rounds(memory)
  fixture.chain.advanceSlots(1_000)
  clock.advance(61_000)
  await environment.chain.nodes.poll()
  const reported: string[] = []
  await rounds(memory, () => Promise.reject(new Error('the signer is away')))
  expect(memory.get(signature)?.isSettled).toBe(false)
  await rounds(memory, async (bytes) => void reported.push(encodeBase58(bytes.subarray(1, 65))))
  expect(reported).toEqual([signature])
  fixture.chain.forgetRequestCounts()

  await rounds(memory)

  expect(memory.get(signature)?.isSettled).toBe(true)
  expect(fixture.chain.requestCounts().get('sendTransaction')).toBeUndefined()
})
