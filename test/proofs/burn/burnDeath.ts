import type { BurnDeps } from '../../../src/burn/burnRound.ts'

/** The steps of the burn job at which it can die. */
export const burnDeaths = [
  'before the burn is recorded',
  'while the burn is recorded',
  'before the burn is sent',
  'after the burn is sent',
  'before the end is recorded',
  'after the end is recorded',
] as const
export type BurnDeath = (typeof burnDeaths)[number]

/** Dies as `kill -9` would have it: at once, nothing flushed, no connection closed. */
function die(): Promise<never> {
  process.kill(process.pid, 'SIGKILL')
  return new Promise(() => undefined)
}

/** The same job, which does not get further than this step. */
export function dyingAt(death: BurnDeath | undefined, { ledger, chain, ...deps }: BurnDeps): BurnDeps {
  const at = async (step: BurnDeath): Promise<void> => {
    if (step === death) await die()
  }
  return {
    ...deps,
    ledger: {
      ...ledger,
      async record(burn) {
        const isStart = burn.event.kind === 'BurnSubmitted'
        await at(isStart ? 'before the burn is recorded' : 'before the end is recorded')
        const recording = ledger.record(burn)
        // The statement is on its way to Postgres. Some of these deaths come before its commit, and some after it.
        if (isStart && death === 'while the burn is recorded') setImmediate(() => void die())
        const outcome = await recording
        if (!isStart) await at('after the end is recorded')
        return outcome
      },
    },
    chain: {
      ...chain,
      async broadcast(transaction) {
        await at('before the burn is sent')
        await chain.broadcast(transaction)
        await at('after the burn is sent')
      },
    },
  }
}
