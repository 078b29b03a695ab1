import { readAddress } from '@tollbook/core/address'
import type { CurrencyConfig } from '../../config/currencyConfig.ts'
import type { SaleConfig } from '../../config/saleConfig.ts'
import type { Chain } from '../../chain/openChain.ts'
import type { HealthCheck } from '../../transport/freeRoute.ts'
import { startFinalityJob } from '../../jobs/finalityJob.ts'
import { startHealthJobs } from '../../jobs/healthJobs.ts'
import { startOpenWorkJob } from '../../jobs/openWorkJob.ts'
import { startRebroadcastJob } from '../../jobs/rebroadcastJob.ts'
import { lifecycleSteps, type StepDeps } from '../../jobs/recordStep.ts'
import { repeat, stopAll } from '../../jobs/repeat.ts'
import { startRefundJob } from '../../jobs/refundJob.ts'
import { startTransferScanJob } from '../../jobs/transferScanJob.ts'
import { refundAfterMs, settleAgeMs } from '../../payment/paymentAges.ts'
import type { LedgerPart } from '../ledger/openLedgerPart.ts'
import { exposureLimit } from './exposureLimit.ts'
import { startMintHealth } from '../../jobs/mintHealth.ts'
import type { PartDeps } from '../partDeps.ts'
import type { Products } from '../products/openProducts.ts'
import { watchedDollar, watchedToken } from './watchedAccounts.ts'

/** Limits that the proofs in test/proofs replace, because they cannot wait for an hour and do not run on mainnet. */
export interface JobLimits {
  /** Maximum age of a transfer that the service accepts as a payment. */
  readonly settleAgeMs: number
  /** CAIP-2 name of the network whose dollars have a market. */
  readonly pegNetwork: string
}

export interface JobsDeps extends PartDeps {
  readonly limits?: Partial<JobLimits> | undefined
  readonly ledger: Pick<
    LedgerPart,
    'payments' | 'lifecycle' | 'presentations' | 'tabs' | 'burnDebt' | 'settings' | 'upkeep'
  >
  readonly chain: Chain
  readonly products: Pick<Products, 'marketSources' | 'tokenPriceAttoUsd'>
  /** Receives each transaction that can no longer land. */
  readonly signer: { recordAbsent(bytes: Uint8Array): Promise<void> }
}

export interface JobsConfig {
  readonly sale: SaleConfig
  readonly currencies: Pick<CurrencyConfig, 'treasuryWallet'>
}

export type Jobs = Awaited<ReturnType<typeof startJobs>>

/** Starts the jobs. Health starts first, so that the other jobs use a checked ledger and chain. */
export async function startJobs(config: JobsConfig, deps: JobsDeps) {
  const { clock, log, chain, ledger } = deps
  const { tokenPriceAttoUsd, marketSources } = deps.products
  const health = await startHealthJobs({ clock, log, ledger: ledger.upkeep, chain })
  const whyExposed = exposureLimit(config.sale.exposureMaxTokens, {
    ...chain,
    lifecycle: ledger.lifecycle,
    tokenPriceAttoUsd,
  })
  const lifecycle = startLifecycleJobs(config, deps)
  const dollars = await startMintHealth(
    chain.dollars.map((dollar) => watchedDollar(dollar, { ...deps, marketSources })),
    { clock, log },
  )
  const token = await startMintHealth([watchedToken(chain)], { clock, log })
  const ofDollars: HealthCheck = { name: 'dollars', problem: dollars.problem, someProductsOnly: true }
  const ofToken: HealthCheck = { name: 'tokenAccount', problem: token.problem, quotesOnly: true }
  return {
    checks: [...health.checks, ofToken, ...lifecycle.checks, ...(chain.dollars.length === 0 ? [] : [ofDollars])],
    /** Stops only quotes: a caller who has paid is still served. */
    whyNoQuotes: health.whyNoQuotes,
    whyExposed,
    slot: health.slot,
    whyDollarOff: dollars.whyOff,
    whyNoDeposit: dollars.whyNoDeposit,
    close: () => stopAll([...lifecycle.jobs, token, dollars, health]),
  }
}

function startLifecycleJobs({ sale, currencies }: JobsConfig, deps: JobsDeps) {
  const { attemptsMax } = sale
  const { clock, log, metrics, chain, ledger } = deps
  const { payments, lifecycle, presentations, tabs } = ledger
  // Set each counter to 0 first, so that an alert sees the first step as an increase.
  for (const step of lifecycleSteps) metrics.onLifecycleStep(step, 0)
  const steps: StepDeps = { clock, log, payments, lifecycle, onStep: (step) => metrics.onLifecycleStep(step) }
  const allTerms = ledger.settings.followedTerms
  // Transfers of the token by the treasury count as deliveries of promised burns.
  const wallet = readAddress(currencies.treasuryWallet ?? '')
  const delivery = wallet === undefined ? undefined : { wallet, mint: chain.terms.mint }
  const onChain = { ...steps, tabs, chain: { ...chain.reader, ...chain.finality }, allTerms }
  const finality = startFinalityJob(onChain)
  const jobs = [
    finality,
    startOpenWorkJob(steps),
    startRefundJob({ refundAfterMs, attemptsMax }, steps),
    startRebroadcastJob({ ...onChain, onAbsent: deps.signer.recordAbsent }),
    repeat(steps, { name: 'burn debt', everyMs: burnDebtEveryMs, run: () => measureBurnDebt(deps) }),
    startTransferScanJob({ ...onChain, presentations, settleAgeMs, delivery, ...deps.limits }),
  ]
  return {
    checks: [{ name: 'finality', problem: finality.problem, quotesOnly: true, causes: ['history', 'ledger'] }],
    jobs,
  }
}

const burnDebtEveryMs = 30_000

interface BurnDebtDeps extends Pick<JobsDeps, 'clock'> {
  readonly ledger: Pick<LedgerPart, 'burnDebt'>
  readonly chain: Pick<Chain, 'terms'>
  readonly metrics: Pick<PartDeps['metrics'], 'onBurnDebt'>
}

/** Measures how much is owed and for how long, because the separate process that burns may not be running. */
export async function measureBurnDebt({ clock, ledger, chain, metrics }: BurnDebtDeps): Promise<void> {
  const { owedBaseUnits, oldestOwedAtMs } = await ledger.burnDebt(chain.terms)
  // Use at least 0, because block times may be slightly ahead of the server's clock.
  const ageMs = oldestOwedAtMs === undefined ? 0 : Math.max(0, clock.nowMs() - oldestOwedAtMs)
  metrics.onBurnDebt({ owedBaseUnits, oldestSeconds: ageMs / 1_000 })
}
