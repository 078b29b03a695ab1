import { type Clock, systemClock } from '@tollbook/core/clock'
import { readAddress } from '@tollbook/core/address'
import { type Budget, createBudget } from './budget.ts'
import type { QuotePins } from './checkQuote.ts'
import type { ProofForm } from './encodeProof.ts'
import { connectPayerChain, type PayerChain } from './payerChain.ts'
import type { PayerWallet } from './payerWallet.ts'
import type { PaymentProgress } from './paymentProgress.ts'
import { createOpenPayments, type OpenPayments, type PaymentStore } from './paymentStore.ts'
import { defaultRetryLimits, type RetryLimits } from './presentPayment.ts'
import { createRentGuard, type RentGuard } from './rentGuard.ts'
import type { Fetch } from './solanaRpc.ts'
import type { SpendingLimit } from './spendingLimit.ts'

export interface PayingFetchOptions extends QuotePins {
  readonly wallet: PayerWallet
  /** A Solana node: for the mint and the blockhash, and in signature form for sending and waiting. */
  readonly rpcUrl: string
  readonly spendingLimit: SpendingLimit
  /** Default `bound`: no observer of the payment can use it, and it saves a wait. */
  readonly form?: ProofForm
  readonly retry?: Partial<RetryLimits>
  /** Keeps payments and spending beyond this process. Without it, each paying fetch starts with its full limits. */
  readonly store?: PaymentStore
  /** Awaited at each step; a throw before the payment has left stops it. */
  readonly onEvent?: (event: PaymentProgress) => void | Promise<void>
  readonly fetch?: Fetch
  readonly clock?: Clock
}

/** Wallet, means and limit of the payments. */
export interface Payer {
  readonly wallet: PayerWallet
  readonly chain: PayerChain
  readonly budget: Budget
  /** Reads what was spent before, once. */
  readonly recallSpending: () => Promise<void>
  readonly open: OpenPayments
  readonly rent: RentGuard
  readonly form: ProofForm
  readonly pins: QuotePins
  readonly retry: RetryLimits
  readonly onEvent: (event: PaymentProgress) => void | Promise<void>
  readonly fetch: Fetch
  readonly clock: Clock
}

export function createPayer(options: PayingFetchOptions): Payer {
  const { wallet, rpcUrl, spendingLimit, form = 'bound', fetch = globalThis.fetch, clock = systemClock } = options
  if (readAddress(wallet.address) === undefined) throw new TypeError(`${wallet.address} is not a wallet address`)
  const budget = createBudget(spendingLimit)
  const { perRequest, perDay, perHost, total } = spendingLimit
  const limitsTokens = [perRequest, perDay, perHost, total].some((ceiling) => ceiling?.baseUnits !== undefined)
  if (limitsTokens && options.expectedMint === undefined)
    throw new TypeError('a spending limit in base units says something of one token only: give expectedMint too')
  return {
    wallet,
    chain: connectPayerChain({ rpcUrl, fetch }),
    budget,
    recallSpending: recallOnce(budget, options),
    open: createOpenPayments(options.store),
    rent: createRentGuard(),
    form,
    pins: options,
    retry: { ...defaultRetryLimits, ...options.retry },
    onEvent: options.onEvent ?? (() => undefined),
    fetch,
    clock,
  }
}

/** A limit in base units counts only payments in the expected mint. */
function recallOnce(budget: Budget, { store, expectedMint }: PayingFetchOptions): () => Promise<void> {
  let recalled: Promise<void> | undefined
  const recall = async () => {
    const earlier = (await store?.spending()) ?? []
    budget.count(
      earlier.map(({ mint, baseUnits, ...spending }) => ({
        ...spending,
        baseUnits: expectedMint === undefined || mint === expectedMint ? baseUnits : 0n,
      })),
    )
  }
  return () => (recalled ??= recall())
}
