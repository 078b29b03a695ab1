import type { Chain } from './chain/openChain.ts'
import type { Config } from './config.ts'
import { startFinalityJob } from './jobs/finalityJob.ts'
import type { StepDeps } from './jobs/recordStep.ts'
import { startRefundJob } from './jobs/refundJob.ts'
import { startOpenWorkJob } from './jobs/openWorkJob.ts'
import { startTransferScanJob } from './jobs/transferScanJob.ts'
import type { Check } from './jobs/healthJobs.ts'

export interface LifeOptions extends Pick<StepDeps, 'clock' | 'log'> {
  readonly metrics: { onLifeStep(step: string): void }
  readonly ledger: Pick<StepDeps, 'payments' | 'lifecycle'>
  readonly chain: Pick<Chain, 'reader' | 'finality' | 'terms'>
}

export interface Life {
  readonly checks: readonly Check[]
  /** Undefined while what was served for payments that are not final is within the operator's limit. */
  whyExposed(): Promise<string | undefined>
  stop(): Promise<void>
}

const refundAfterMs = 24 * 60 * 60 * 1000
// Whoever was told to come back with the same proof has this much longer than the age of a proof.
const settleMarginMs = 60 * 60 * 1000

/** What happens to payments after their answers. */
export function openLife(config: Config, { chain, clock, log, metrics, ledger }: LifeOptions): Life {
  const { payments, lifecycle } = ledger
  const deps: StepDeps = { clock, log, payments, lifecycle, onStep: (step) => metrics.onLifeStep(step) }
  const openWork = startOpenWorkJob(deps)
  const finalityJob = startFinalityJob({ ...deps, chain: { ...chain.reader, ...chain.finality } })
  const refundJob = startRefundJob({ ...deps, refundAfterMs })
  const settleAgeMs = config.proofMaxAgeMs + settleMarginMs
  const transferScan = startTransferScanJob({ ...deps, chain: chain.finality, terms: chain.terms, settleAgeMs })
  const exposureMaxBaseUnits = BigInt(config.exposureMaxTokens) * 10n ** BigInt(chain.terms.decimals)
  return {
    checks: [{ name: 'finality', problem: finalityJob.problem, quotesOnly: true }],
    async whyExposed() {
      if (config.exposureMaxTokens === 0) return undefined
      const exposed = await lifecycle.exposureBaseUnits(chain.terms.mint)
      return exposed < exposureMaxBaseUnits ? undefined : overexposed
    },
    async stop() {
      await Promise.all([openWork.stop(), finalityJob.stop(), refundJob.stop(), transferScan.stop()])
    },
  }
}

const overexposed =
  'the chain has yet to make the payments of the last seconds final; repeat in a moment, with the same proof if you sent one'
