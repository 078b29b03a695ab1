import type { HolderPaymentDeps } from '../../../src/payout/payHolders.ts'

/** Steps of a payout to holders at which its process can die. */
export const holdersDeaths = [
  'before a part is sent',
  'after a part is sent',
  'before a part is recorded',
  'while a part is recorded',
  'after a part is recorded',
] as const
export type HoldersDeath = (typeof holdersDeaths)[number]

// So that some parts of the run are done and some are open.
const callsBefore = 100

/** Dies as `kill -9` would have it: at once, nothing flushed, no connection closed. */
function die(): Promise<never> {
  process.kill(process.pid, 'SIGKILL')
  return new Promise(() => undefined)
}

/** The same work, which does not get further than this step of the hundredth part. */
export function dyingAt(death: HoldersDeath | undefined, deps: HolderPaymentDeps): HolderPaymentDeps {
  const calls = new Map<HoldersDeath, number>()
  const at = async (step: HoldersDeath): Promise<void> => {
    const count = (calls.get(step) ?? 0) + 1
    calls.set(step, count)
    if (step === death && count === callsBefore) await die()
  }
  return {
    ...deps,
    chain: {
      ...deps.chain,
      reader: {
        ...deps.chain.reader,
        async broadcast(transaction) {
          await at('before a part is sent')
          await deps.chain.reader.broadcast(transaction)
          await at('after a part is sent')
        },
      },
    },
    async record(plan, signature) {
      await at('before a part is recorded')
      const recording = deps.record(plan, signature)
      // The record is on its way. Some of these deaths come before its commit, and some after it.
      if (death === 'while a part is recorded') setTimeout(() => void at('while a part is recorded'), 1)
      await recording
      await at('after a part is recorded')
    },
  }
}
