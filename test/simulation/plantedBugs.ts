import type { Clock } from '@tollbook/core/clock'
import type { Signature } from '@tollbook/core/signature'
import { type LandingBound, ProvenAbsent } from '../../src/payment/absence.ts'
import { evolveAll } from '../../src/payment/payment.ts'
import type { PaymentChange, PaymentLedger } from '../../src/payment/paymentLedger.ts'
import type { PresentedReference } from '../../src/payment/paymentReference.ts'
import type { SchemaRules } from './simulatedPostgres.ts'
import type { PlantedBug } from './world.ts'

/*
 * Bugs that a payment service can really have, each planted through a port of the simulation. A simulation that does
 * not find them proves nothing.
 */

export const plantedBugs: readonly PlantedBug[] = [
  {
    name: 'the claim is not awaited before the handler runs',
    payments: (payments, { clock }) => ({
      ...payments,
      append: (change) =>
        change.step === 'payment.claim' ? appendLater(payments, change, clock.nowMs()) : payments.append(change),
    }),
  },
  {
    name: 'an answer is sent before its fulfilment is recorded',
    payments: (payments, { clock }) => ({
      ...payments,
      append: (change) =>
        change.step === 'payment.fulfil' ? appendLater(payments, change, clock.nowMs()) : payments.append(change),
    }),
  },
  {
    name: 'a lease is compared with the clock of the server alone',
    // The append no longer asks its own clock whether the lease has ended.
    rules: (rules) => withSteps(rules, (step) => ({ ...step, afterLease: false })),
  },
  {
    name: 'an answer is marked as sent before it is sent',
    payments: (payments) => ({
      ...payments,
      async append(change) {
        if (change.step === 'payment.fulfil') payments.markSent({ reference: change.reference, isBound: false })
        return payments.append(change)
      },
    }),
  },
  {
    name: 'a fulfilment whose acknowledgement is lost is released',
    rules: (rules) => withSteps(rules, (step) => step, releaseOfFulfilled),
    payments: (payments, { clock }) => ({
      ...payments,
      append: (change) => releaseWhenUnknown(payments, change, clock),
    }),
  },
  {
    name: 'a reversal is concluded from one lookup of one node',
    chain: (chain) => ({
      ...chain,
      async findReversal({ signature }) {
        const { statuses } = await chain.findStatuses({ signatures: [signature], searchHistory: false })
        const finalizedSlot = await chain.finalizedSlot()
        // "failed" is believed at once, "absent" twice.
        return statuses[0] === undefined ? { reason: 'failed', finalizedSlot, nodes: 1 } : undefined
      },
    }),
  },
  {
    name: 'a stored answer is replayed to another order',
    payments: replayToAnyOrder,
  },
  {
    name: 'the transfer search moves on before it has recorded',
    lifecycle: (lifecycle) => ({
      ...lifecycle,
      // Every transfer of the page counts as accounted for.
      findAccounted: (references) => Promise.resolve(new Set(references)),
    }),
  },
  {
    name: 'a lookup that finds nothing says that the payment never will land',
    chain: (chain) => ({
      ...chain,
      async find(signature, options) {
        const finding = await chain.find(signature, options)
        if (finding.kind !== 'unknown' || finding.isSeen || options?.bound === undefined) return finding
        return absentAtOnce(signature, options.bound) ?? finding
      },
    }),
  },
  {
    name: 'the exposure of a payment that fails is not given back',
    payments: (payments) => ({
      ...payments,
      append(change) {
        const events = change.events.map((event) =>
          event.kind === 'RequestFailed' ? { ...event, exposedBaseUnits: 0n } : event,
        )
        return payments.append({ ...change, events })
      },
    }),
  },
]

type Step = SchemaRules['declaration']['steps'][number]

function withSteps(rules: SchemaRules, change: (step: Step) => Step, ...more: readonly Step[]): SchemaRules {
  const steps = [...rules.declaration.steps.map(change), ...more]
  return { ...rules, declaration: { ...rules.declaration, steps } }
}

const releaseOfFulfilled: Step = {
  step: 'payment.release',
  kind: 'payment',
  fromState: 'fulfilled',
  toState: 'released',
  eventKinds: ['RequestFailed'],
  lease: 'none',
  afterLease: false,
  moves: ['exposed_contra>exposed'],
  writer: 'service',
  numberMax: undefined,
}

/** Answers as if the append had succeeded, and appends in the background. */
async function appendLater(payments: PaymentLedger, change: PaymentChange, nowMs: number) {
  payments.append(change).catch(() => undefined)
  const after = evolveAll(change.before, change.events, nowMs)
  const leaves = change.events.map((_, n) => ({ position: n + 1, leafHash: '00'.repeat(32) }))
  return await Promise.resolve({ outcome: 'appended' as const, after, recordedAtMs: nowMs, leaves })
}

async function releaseWhenUnknown(payments: PaymentLedger, change: PaymentChange, clock: Clock) {
  try {
    return await payments.append(change)
  } catch (error) {
    const { before } = change
    if (change.step !== 'payment.fulfil' || before.phase !== 'claimed') throw error
    const after = evolveAll(before, change.events, change.nowMs)
    const { attempt, attemptId, settlement } = before
    const { mint, requiredBaseUnits: exposedBaseUnits } = settlement.price
    const failed = {
      kind: 'RequestFailed',
      attempt,
      attemptId,
      reason: 'internal_error',
      mint,
      exposedBaseUnits,
    } as const
    const release = {
      reference: change.reference,
      step: 'payment.release',
      nowMs: change.nowMs,
      before: after,
    } as const
    void untilAppended(payments, { ...release, events: [failed] }, clock)
    throw error
  }
}

const releaseTriesMax = 20
const releaseAgainMs = 5_000

async function untilAppended(payments: PaymentLedger, change: PaymentChange, clock: Clock): Promise<void> {
  for (let tries = 1; tries <= releaseTriesMax; tries++) {
    try {
      await payments.append(change)
      return
    } catch {
      // The database is still away.
      await clock.sleep(releaseAgainMs)
    }
  }
}

/** As if the finalized chain had passed the bound, without a question about it. */
function absentAtOnce(signature: Signature, bound: LandingBound): ProvenAbsent | undefined {
  const finalizedHeight = bound.lastValidHeight + 1
  const reading = { node: 'node 1', finalizedSlot: 0, finalizedHeight, searchedSlot: 0, isFound: false }
  return ProvenAbsent.prove({ signature, bound, readings: [reading] })
}

/** Orders that were served, for all instances of all runs. */
const digests = new Map<PresentedReference, string>()

/** The order is not part of the question for a stored answer. */
function replayToAnyOrder(payments: PaymentLedger): PaymentLedger {
  return {
    ...payments,
    append(change) {
      for (const event of change.events)
        if (event.kind === 'RequestFulfilled') digests.set(change.reference, event.orderDigest)
      return payments.append(change)
    },
    lookUp(question) {
      const orderDigest = digests.get(question.reference)
      return payments.lookUp({ ...question, ...(orderDigest === undefined ? {} : { orderDigest }) })
    },
  }
}
