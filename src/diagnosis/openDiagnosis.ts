import { type Clock, systemClock } from '@tollbook/core/clock'
import { describeError, Fault } from '@tollbook/core/fault'
import { type Chain, type ChainOptions, openChain } from '../chain/openChain.ts'
import { termsOfWallets } from '../chain/walletTerms.ts'
import { postJson } from '../outbound/postJson.ts'
import { walletOf } from '../settings/settingPeriods.ts'
import { everyWallet } from '../settings/walletSettings.ts'
import type { PaymentTerms } from '../payment/settlement.ts'
import type { Log } from '../machine/log.ts'
import { readLedgerMints } from '../store/ledgerMints.ts'
import { ledgerToken, type LedgerToken } from '../reports/ledgerToken.ts'
import { createPaymentFacts } from '../reports/paymentFacts.ts'
import { type Database, openDatabase } from '../store/database.ts'
import { readPeriods } from '../store/settingStore.ts'
import { createReports } from '../reports/reports.ts'
import { createRefundStore } from '../store/refundStore.ts'
import type { RefundLimits } from '../payment/refundDecision.ts'
import { explain } from './explain.ts'
import { reconcile, type Reconciliation } from './reconcile.ts'
import { decideAndRecord, type DecisionDeps, type RefundOrder } from './recordDecision.ts'

export interface DiagnosisOptions {
  /**
   * Database URL with a login of tollbook_service or tollbook_reader. For decisions, a login of tollbook_finance is
   * required.
   */
  readonly databaseUrl: string
  /** Configuration of the chain. Undefined: explanations use the ledger alone. */
  readonly chain: Pick<ChainOptions, 'rpcUrls' | 'tokenMint' | 'paymentWallet' | 'currencies'> | undefined
  readonly limits: RefundLimits
  readonly log: Log
  readonly clock?: Clock
}

export interface MintReconciliation extends Reconciliation {
  readonly name: string
  readonly decimals: number
}

export type OpenDiagnosis = Awaited<ReturnType<typeof openDiagnosis>>

interface DeciderDeps extends Pick<DecisionDeps, 'clock' | 'chain' | 'allTerms' | 'limits'> {
  readonly token: LedgerToken
}

/** Creates the function that records refund decisions. The database login must be a member of `tollbook_finance`. */
export function createDecider(database: Database, { token, ...deps }: DeciderDeps) {
  const facts = createPaymentFacts(database)
  const store = createRefundStore(database, () => deps.clock.nowMs())
  const { refundsOf } = createReports(database, token)
  return (order: RefundOrder) => decideAndRecord({ ...deps, facts, store, refundsOf }, order)
}

const connectionsMax = 2

export async function openDiagnosis(options: DiagnosisOptions) {
  const { databaseUrl, log, clock = systemClock } = options
  const database = openDatabase({ databaseUrl, applicationName: 'tollbook explain', connectionsMax, log })
  try {
    const token = await ledgerToken(database)
    if (token === undefined) throw new Fault('the ledger is empty: nothing was ever priced', { retryable: false })
    const chain = await openChainOrWhy({ chain: options.chain, log, clock })
    const terms = typeof chain === 'string' ? [] : await allTerms(database, chain)
    const deps = {
      clock,
      facts: createPaymentFacts(database),
      chain: typeof chain === 'string' ? chain : chain.reader,
      allTerms: () => terms,
      decimals: token.decimals,
    }
    return {
      decimals: token.decimals,
      explain: (subject: string) => explain(deps, subject),
      /** Compares the wallets on chain with the ledger, in each mint. Throws a fault without a chain. */
      reconcile: async (): Promise<readonly MintReconciliation[]> => {
        if (typeof chain === 'string') throw new Fault(`the chain cannot be asked: ${chain}`, { retryable: true })
        const mints = await readLedgerMints(database)
        return Promise.all(
          mints.map(async ({ mint, name, decimals }) => ({
            name,
            decimals,
            ...(await reconcile({ ...deps, chain }, mint)),
          })),
        )
      },
      decide: createDecider(database, { ...deps, token, limits: options.limits }),
      close: () => database.destroy(),
    }
  } catch (error) {
    await database.destroy()
    throw error
  }
}

/** Opens the chain. Returns a text with the reason if this fails, because the ledger can be explained without a node. */
async function openChainOrWhy({
  chain,
  ...options
}: Pick<DiagnosisOptions, 'chain' | 'log'> & { readonly clock: Clock }): Promise<Chain | string> {
  if (chain === undefined)
    return 'SOLANA_RPC_URLS, TOKEN_MINT and PAYMENT_WALLET are not set, and local mode does not run here'
  try {
    return await openChain({ ...chain, ...options, commitment: 'confirmed', postJson })
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return describeError(error)
  }
}

/** The configured wallet of each mint comes first, because callers use the first terms by default. */
async function allTerms(database: Database, { terms, dollars }: Chain): Promise<readonly PaymentTerms[]> {
  const wallets = (await readPeriods(database, everyWallet)).map(walletOf)
  return termsOfWallets([terms, ...dollars.map((dollar) => dollar.terms)], wallets)
}
