import type { Outcome } from '../../src/product/product.ts'
import type { PaymentChange, PaymentLedger } from '../../src/payment/paymentLedger.ts'

/** The steps between claim and answer at which a server can die. */
export const crashSteps = [
  'before the claim is sent',
  'while the claim is in progress',
  'after the claim, before the handler',
  'inside the handler',
  'after the handler, before the fulfilment is sent',
  'while the fulfilment is in progress',
  'after the fulfilment, before the answer',
] as const
export type CrashStep = (typeof crashSteps)[number]

export interface Crasher {
  /** The next request that comes to this step does not get further. */
  arm(step: CrashStep): void
  ledger(inner: PaymentLedger): PaymentLedger
  handle(deliver: () => Promise<Outcome>): Promise<Outcome>
}

/** Dies as `kill -9` would have it: at once, without a word, nothing flushed, no connection closed. */
function die(): Promise<never> {
  process.kill(process.pid, 'SIGKILL')
  return new Promise(() => undefined)
}

export function createCrasher(): Crasher {
  let armed: CrashStep | undefined
  const at = async (step: CrashStep): Promise<void> => {
    if (armed === step) await die()
  }
  return {
    arm(step) {
      armed = step
    },
    async handle(deliver) {
      await at('inside the handler')
      return deliver()
    },
    ledger: (inner) => ({
      ...inner,
      async append(change) {
        const end = endOf(change)
        if (end === 'claim') await at('before the claim is sent')
        if (end === 'fulfilment') await at('after the handler, before the fulfilment is sent')
        const appending = inner.append(change)
        if (end !== 'other' && armed === `while the ${end} is in progress`) void dieUnderWay()
        const outcome = await appending
        if (end === 'claim') await at('after the claim, before the handler')
        if (end === 'fulfilment') await at('after the fulfilment, before the answer')
        return outcome
      },
    }),
  }
}

function endOf({ events }: PaymentChange): 'claim' | 'fulfilment' | 'other' {
  if (events.some(({ kind }) => kind === 'ProofClaimed')) return 'claim'
  return events.some(({ kind }) => kind === 'RequestFulfilled') ? 'fulfilment' : 'other'
}

// An append takes 1 to 5 ms here, so some of these deaths come before its commit and some after it.
const underWayMsMax = 6

async function dieUnderWay(): Promise<void> {
  // Reads the clock without end on purpose: a timer would fire only when the append's answer has been read too.
  await new Promise((resolve) => setImmediate(resolve))
  const endsAt = process.hrtime.bigint() + BigInt(Math.floor((process.pid % 7) * (underWayMsMax / 7) * 1e6))
  while (process.hrtime.bigint() < endsAt);
  await die()
}
