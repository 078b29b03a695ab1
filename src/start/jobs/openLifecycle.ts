import type { Chain } from '../../chain/openChain.ts'
import type { LifecycleSettings } from '../../config/saleSettings.ts'
import type { ServiceCheck } from '../../jobs/healthJobs.ts'
import { startBurnDebtJob } from '../../jobs/burnDebtJob.ts'
import { startOpenWorkJob } from '../../jobs/openWorkJob.ts'
import { startFinalityJob } from '../../jobs/finalityJob.ts'
import { startRebroadcastJob } from '../../jobs/rebroadcastJob.ts'
import { lifecycleSteps, type StepDeps } from '../../jobs/recordStep.ts'
import { startRefundJob } from '../../jobs/refundJob.ts'
import { startTransferScanJob } from '../../jobs/transferScanJob.ts'
import { refundAfterMs, settleMarginMs } from '../../payment/paymentAges.ts'
import type { LedgerPart } from '../ledger/openLedger.ts'
import type { PartDeps } from '../partDeps.ts'

export interface LifecycleJobsDeps extends PartDeps {
  readonly ledger: Pick<LedgerPart, 'payments' | 'lifecycle' | 'presentations' | 'burnDebt' | 'settings'>
  readonly chain: Pick<Chain, 'reader' | 'finality' | 'terms'>
}

export interface Lifecycle {
  readonly checks: readonly ServiceCheck[]
  /** Undefined while the amount served for payments that are not final is within the operator's limit. */
  whyExposed(): Promise<string | undefined>
  close(): Promise<void>
}

/** Payments after their answers: final, reversed, refunded, matched with transfers. */
export function openLifecycle(settings: LifecycleSettings, deps: LifecycleJobsDeps): Lifecycle {
  const { chain, clock, log, metrics, ledger } = deps
  const { payments, lifecycle } = ledger
  // Counted from 0, so that an alert sees the first one as an increase.
  for (const step of lifecycleSteps) metrics.onLifecycleStep(step, 0)
  const steps: StepDeps = { clock, log, payments, lifecycle, onStep: (step) => metrics.onLifecycleStep(step) }
  const openWork = startOpenWorkJob(steps)
  const finality = startFinalityJob({ ...steps, chain: { ...chain.reader, ...chain.finality } })
  const refunds = startRefundJob({ ...steps, refundAfterMs, attemptsMax: settings.attemptsMax })
  const rebroadcasts = startRebroadcastJob({ ...steps, chain: { ...chain.reader, ...chain.finality } })
  const burnDebts = startBurnDebtJob({
    clock,
    log,
    readDebt: () => ledger.burnDebt(chain.terms),
    onDebt: metrics.onBurnDebt,
  })
  const settleAgeMs = settings.proofMaxAgeMs + settleMarginMs
  const transfers = startTransferScanJob({
    ...steps,
    chain: { ...chain.reader, ...chain.finality },
    presentations: ledger.presentations,
    allTerms: ledger.settings.allTerms,
    settleAgeMs,
  })
  const exposureMaxBaseUnits = BigInt(settings.exposureMaxTokens) * 10n ** BigInt(chain.terms.decimals)
  return {
    checks: [{ name: 'finality', problem: finality.problem, quotesOnly: true }],
    async whyExposed() {
      if (exposureMaxBaseUnits === 0n) return undefined
      const exposed = await lifecycle.exposureBaseUnits(chain.terms.mint)
      return exposed < exposureMaxBaseUnits ? undefined : overexposed
    },
    async close() {
      const jobs = [openWork, finality, refunds, rebroadcasts, burnDebts, transfers]
      await Promise.all(jobs.map((job) => job.stop()))
    },
  }
}

const overexposed =
  'the chain has yet to make the payments of the last seconds final; repeat in a moment, with the same proof if you sent one'
