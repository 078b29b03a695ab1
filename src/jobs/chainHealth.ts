import type { ChainReader } from '../payment/chainReader.ts'
import { type Repeated, repeat, type RepeatDeps } from './repeat.ts'

export interface ChainHealth extends Repeated {
  /** Undefined while a node answers. Without one no payment could be verified, so no quotes are made. */
  problem(): string | undefined
  /** A slot that the chain has certainly reached. */
  slot(): number
}

export interface ChainHealthDeps extends RepeatDeps {
  readonly chain: Pick<ChainReader, 'slot'>
}

// A slot takes 0.4 s; a quote may name one that is this much behind, and still no earlier payment can pass for it.
const everyMs = 2_000
// A node that is restarted is back within this; longer is an outage.
const silenceMaxMs = 20_000

export async function startChainHealth(deps: ChainHealthDeps): Promise<ChainHealth> {
  let slot = await deps.chain.slot()
  let heardAtMs = deps.clock.monotonicMs()
  const task = repeat(deps, {
    name: 'chain watch',
    everyMs,
    async run() {
      slot = Math.max(slot, await deps.chain.slot())
      heardAtMs = deps.clock.monotonicMs()
    },
  })
  return {
    slot: () => slot,
    problem() {
      const silentMs = deps.clock.monotonicMs() - heardAtMs
      return silentMs > silenceMaxMs ? `no Solana node has answered for ${Math.round(silentMs / 1000)} s` : undefined
    },
    stop: () => task.stop(),
  }
}
