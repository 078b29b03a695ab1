import { expect, test } from 'vitest'
import { assertPresent } from '@tollbook/core/assert'
import type { Signature } from '@tollbook/core/signature'
import { rebroadcast, type RebroadcastDeps, type RebroadcastMemory } from '../../src/jobs/rebroadcastJob.ts'
import { ProvenAbsent } from '../../src/payment/absence.ts'
import { statusesMax } from '../../src/payment/finalityReader.ts'
import type { PaymentState } from '../../src/payment/payment.ts'
import { transactionReference } from '../../src/payment/paymentReference.ts'
import { silentLog } from '../../src/machine/log.ts'
import { wallet } from '../payment/paymentStory.ts'
import { heldClock, lifecycleWith, signatureNumber } from './jobFixture.ts'

const unused = (): never => {
  throw new Error('no transaction of this test is older than a minute')
}

function signaturesTo(count: number): readonly Signature[] {
  return Array.from({ length: count }, (_, index) => signatureNumber(index + 1))
}

/** Sent transactions, oldest first; those of `landed` are final, and no node has the others. */
function depsOf(open: readonly Signature[], landed: ReadonlySet<Signature>, sent: Set<string>): RebroadcastDeps {
  const stateOf = (signature: string): PaymentState => {
    const transactionBase64 = Buffer.from(signature).toString('base64')
    return { phase: 'submitted', version: 1, wallet, endpoint: '/api/data/crypto', transactionBase64 }
  }
  return {
    clock: heldClock,
    log: silentLog,
    lifecycle: lifecycleWith({
      findOpen: (_question, max) =>
        Promise.resolve(
          open.slice(0, max).map((signature, index) => ({
            reference: transactionReference(signature),
            createdAtMs: 1,
            position: index + 1,
          })),
        ),
      loadPayments: (references) =>
        Promise.resolve(
          new Map(references.map((reference) => [reference, stateOf(reference.slice('solana:'.length))] as const)),
        ),
    }),
    chain: {
      landingBound: () => ({ lastValidHeight: 1_000, basis: 'first_presentation' }),
      find: unused,
      findStatuses: ({ signatures }) =>
        Promise.resolve({
          statuses: signatures.map((signature) =>
            landed.has(signature) ? { slot: 1, isFinalized: true, hasFailed: true } : undefined,
          ),
        }),
      broadcast({ bytes }) {
        sent.add(Buffer.from(bytes).toString())
        return Promise.resolve()
      },
    },
  }
}

test('a transaction is sent again although more than a page of older ones is settled and was never claimed', async () => {
  const open = signaturesTo(statusesMax + 1)
  const sent = new Set<string>()
  await rebroadcast(depsOf(open, new Set(open.slice(0, -1)), sent), new Map())
  expect([...sent]).toEqual(open.slice(-1))
})

test('each of more transactions than one round sends gets its turn, although none of them lands', async () => {
  const open = signaturesTo(100)
  const sent = new Set<string>()
  const memory: RebroadcastMemory = new Map()
  for (let round = 1; round <= 2; round++) await rebroadcast(depsOf(open, new Set(), sent), memory)
  expect(sent).toEqual(new Set(open))
})

test('a payment whose events cannot be decoded does not keep the others from being sent again', async () => {
  const open = signaturesTo(3)
  const sent = new Set<string>()
  const { lifecycle, ...deps } = depsOf(open, new Set(), sent)
  const loadPayments: typeof lifecycle.loadPayments = async (references) => {
    const states = await lifecycle.loadPayments(references)
    return {
      get(reference) {
        if (reference === references[0]) throw new Error('it cannot be decoded')
        return states.get(reference)
      },
    }
  }
  await rebroadcast({ ...deps, lifecycle: { ...lifecycle, loadPayments } }, new Map())
  expect([...sent]).toEqual(open.slice(1))
})

test('a transaction that a fork dropped after a node had processed it is sent again', async () => {
  const open = signaturesTo(1)
  const sent = new Set<string>()
  const deps = depsOf(open, new Set(), sent)
  const processed = { slot: 1, isFinalized: false, hasFailed: false }
  const findStatuses = () => Promise.resolve({ statuses: [processed] })
  const memory: RebroadcastMemory = new Map()
  await rebroadcast({ ...deps, chain: { ...deps.chain, findStatuses } }, memory)
  expect([...sent]).toEqual([])
  await rebroadcast(deps, memory)
  expect([...sent]).toEqual(open)
})

test('a transaction that can no longer land is reported until the report succeeds, and is forgotten once it is no longer open', async () => {
  const [signature] = signaturesTo(1)
  let open = signaturesTo(1)
  let [nowMs, reports] = [0, 0]
  const bound = { lastValidHeight: 1_000, basis: 'first_presentation' } as const
  const reading = { node: 'node', finalizedSlot: 9, finalizedHeight: 1_001, searchedSlot: 9, isFound: false }
  const proof = { signature: assertPresent(signature, 'one is open'), bound, readings: [reading] }
  const absent = assertPresent(ProvenAbsent.prove(proof), 'the reading proves it')
  const memory: RebroadcastMemory = new Map()
  const round = () => {
    const deps = depsOf(open, new Set(), new Set())
    return rebroadcast(
      {
        ...deps,
        clock: { ...heldClock, monotonicMs: () => nowMs },
        chain: { ...deps.chain, find: () => Promise.resolve(absent) },
        onAbsent: () => (++reports === 1 ? Promise.reject(new Error('no signer answers')) : Promise.resolve()),
      },
      memory,
    )
  }
  await round()
  nowMs = 61_000
  for (const expected of [1, 2, 2]) {
    await round()
    expect(reports).toBe(expected)
  }
  open = []
  await round()
  expect(memory.size).toBe(0)
})
