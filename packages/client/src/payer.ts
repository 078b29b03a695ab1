import { type Clock, systemClock } from '@tollbook/core/clock'
import { readAddress } from '@tollbook/core/address'
import type { QuotePins } from './checkQuote.ts'
import type { ProofForm } from './encodeProof.ts'
import { connectPayerChain, type PayerChain } from './payerChain.ts'
import type { PayerWallet } from './payerWallet.ts'
import type { PaymentProgress } from './paymentProgress.ts'
import { defaultRetryLimits, type RetryLimits } from './presentPayment.ts'
import { createRentGuard, type RentGuard } from './rentGuard.ts'
import type { Fetch } from './solanaRpc.ts'
import { type Budget, createBudget, type SpendingLimit } from './spendingLimit.ts'

export interface PayingFetchOptions extends QuotePins {
  readonly wallet: PayerWallet
  /** A Solana node: for the mint and the blockhash, and in signature form for sending and waiting. */
  readonly rpcUrl: string
  readonly spendingLimit: SpendingLimit
  /** Default `bound`: no observer of the payment can use it, and it saves a wait. */
  readonly form?: ProofForm
  readonly retry?: Partial<RetryLimits>
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
  const limitsTokens = spendingLimit.perRequest.baseUnits ?? spendingLimit.total?.baseUnits
  if (limitsTokens !== undefined && options.expectedMint === undefined)
    throw new TypeError('a spending limit in base units says something of one token only: give expectedMint too')
  return {
    wallet,
    chain: connectPayerChain({ rpcUrl, fetch }),
    budget,
    rent: createRentGuard(),
    form,
    pins: options,
    retry: { ...defaultRetryLimits, ...options.retry },
    onEvent: options.onEvent ?? (() => undefined),
    fetch,
    clock,
  }
}
