import { type Clock, systemClock } from '@tollbook/core/clock'
import { readAddress } from '@tollbook/core/address'
import { InvalidOption } from './errorCode.ts'
import { type Budget, createBudget } from './budget.ts'
import { type DollarMints, readDollarMints } from './dollarMints.ts'
import type { QuotePins } from './checkQuote.ts'
import type { ProofForm } from './encodeProof.ts'
import { connectPayerChain, type PayerChain } from './payerChain.ts'
import type { PayerWallet } from './payerWallet.ts'
import type { PaymentProgress } from './paymentProgress.ts'
import { createOpenPayments, type OpenPayments } from './openPayments.ts'
import type { PaymentStore } from './paymentStore.ts'
import { defaultRetryLimits, type RetryLimits } from './presentPayment.ts'
import { createRefusedPayments, type RefusedPayments } from './refusedPayments.ts'
import { createRentGuard, type RentGuard } from './rentGuard.ts'
import type { Fetch } from './solanaRpc.ts'
import type { SpendingLimit } from './spendingLimit.ts'
import { readStoredSpendings, type StoredSpendings } from './storedSpending.ts'
import type { SponsoredProtocol } from './sponsored/sponsoredOffer.ts'
import { createTabRecords, type TabRecords } from './tab/tabRecords.ts'
import { carryToolCalls } from './tool/toolCall.ts'
import { readTokenWorth, type TokenWorth } from './tokenWorth.ts'

/** Deposits for services that sell tabs. Limits per day, per host and in total count them. */
export interface TabOption {
  /** 0: spends an open tab of the store, and makes no deposit. */
  readonly depositUsd: 0 | 1 | 5 | 10 | 20
  /** Buys one more deposit when the tab holds less than a price. Default: such a request is paid by itself. */
  readonly topUp?: boolean
  /** The service's wallet for tabs. Required with `expectedPaymentWallet`. */
  readonly expectedWallet?: string
}

export interface PayingFetchOptions extends QuotePins {
  readonly wallet: PayerWallet
  /**
   * URL of a Solana node, which is asked for the mint and the blockhash. In signature form it also sends the
   * transaction.
   */
  readonly rpcUrl: string
  readonly spendingLimit: SpendingLimit
  /**
   * US dollars that one token of `expectedMint` is worth to the payer, as a plain decimal. A payment counts at least
   * this much against limits in dollars, whatever the service states.
   */
  readonly usdPerToken?: string
  /**
   * Also pays other services by these protocols. Their offers name no price in dollars, so every spending limit needs
   * base units, unless `usdPerToken` is given. They burn nothing.
   */
  readonly protocols?: readonly SponsoredProtocol[]
  /**
   * Mints that count as one dollar each, in which offers of `protocols` are paid too. Limits in dollars are one sum
   * over all of them; limits in base units are of `expectedMint` alone. `circle`: USDC.
   */
  readonly dollarMints?: DollarMints
  /** Default `bound`: no observer can use the payment, and the caller does not wait for its confirmation. */
  readonly form?: ProofForm
  readonly retry?: Partial<RetryLimits>
  /** Keeps payments and spending across processes. Without it, each paying fetch starts with its full limits. */
  readonly store?: PaymentStore
  /** Awaited at each step. A throw before the payment has left stops it. */
  readonly onEvent?: (event: PaymentProgress) => void | Promise<void>
  /** Pays services that sell tabs by one deposit, and each request by a signed debit. Default: a payment a request. */
  readonly tab?: TabOption
  readonly fetch?: Fetch
  readonly clock?: Clock
}

export interface Payer {
  readonly wallet: PayerWallet
  readonly chain: PayerChain
  readonly budget: Budget
  readonly stored: StoredSpendings
  readonly open: OpenPayments
  readonly refused: RefusedPayments
  readonly rent: RentGuard
  readonly worth: TokenWorth
  readonly dollarMints: readonly string[]
  readonly tab: TabOption | undefined
  readonly tabs: TabRecords
  /** True while it buys a deposit. */
  readonly paysDeposit: boolean
  readonly form: ProofForm
  readonly protocols: readonly SponsoredProtocol[]
  readonly pins: QuotePins
  readonly retry: RetryLimits
  readonly onEvent: (event: PaymentProgress) => void | Promise<void>
  readonly fetch: Fetch
  readonly clock: Clock
}

/** Throws `TypeError` for contradicting options, before anything is signed. */
export function createPayer(options: PayingFetchOptions): Payer {
  const { wallet, rpcUrl, spendingLimit, form = 'bound', fetch = globalThis.fetch, clock = systemClock } = options
  if (readAddress(wallet.address) === undefined) throw new InvalidOption(`${wallet.address} is not a wallet address`)
  const budget = createBudget(spendingLimit)
  const { perRequest, perDay, perHost, total } = spendingLimit
  const ceilings = [perRequest, perDay, perHost, total].filter((ceiling) => ceiling !== undefined)
  const limitsTokens = ceilings.some(({ baseUnits }) => baseUnits !== undefined)
  const { protocols = [] } = options
  const { usdPerToken } = options
  const dollarMints = readDollarMints(options.dollarMints, options.expectedMint)
  if (dollarMints.length > 0 && ceilings.some(({ usd }) => usd === undefined))
    throw new InvalidOption('payments in dollarMints count in dollars only: give each spending limit in usd too')
  const paysTokens = protocols.length > 0 && (options.expectedMint !== undefined || dollarMints.length === 0)
  if (paysTokens && usdPerToken === undefined && ceilings.some(({ baseUnits }) => baseUnits === undefined))
    throw new InvalidOption(
      `offers of ${protocols.join(' and ')} state no dollars: give each spending limit in baseUnits too, or usdPerToken`,
    )
  if ((limitsTokens || usdPerToken !== undefined) && options.expectedMint === undefined)
    throw new InvalidOption('base units and usdPerToken say something of one token only: give expectedMint too')
  requireTabLimits(options)
  const { store } = options
  const [chain, open] = [connectPayerChain({ rpcUrl, fetch }), createOpenPayments(store)]
  return {
    wallet,
    chain,
    budget,
    stored: readStoredSpendings(store, options.expectedMint),
    open,
    refused: createRefusedPayments({ chain, open, store }),
    rent: createRentGuard(),
    worth: readTokenWorth(usdPerToken),
    dollarMints,
    tab: options.tab,
    tabs: createTabRecords(store, wallet.address),
    paysDeposit: false,
    form,
    protocols,
    pins: options,
    retry: { ...defaultRetryLimits, ...options.retry },
    onEvent: options.onEvent ?? (() => undefined),
    // Wrap `fetch`: a browser's throws when it is called as a method of another object.
    fetch: carryToolCalls((input, init) => fetch(input, init)),
    clock,
  }
}

/** The limit per request does not bound deposits, so another limit must, in base units too if that one has them. */
function requireTabLimits({ tab, expectedPaymentWallet, spendingLimit }: PayingFetchOptions): void {
  if (tab === undefined || tab.depositUsd === 0) return
  if (expectedPaymentWallet !== undefined && tab.expectedWallet === undefined)
    throw new InvalidOption('a deposit goes to another wallet than expectedPaymentWallet: give tab.expectedWallet too')
  const { perRequest, perDay, perHost, total } = spendingLimit
  const sums = [perDay, perHost, total].filter((each) => each !== undefined)
  if (sums.length === 0)
    throw new InvalidOption('perRequest does not bound deposits: give perDay, perHost or total too')
  if (perRequest.baseUnits !== undefined && sums.every(({ baseUnits }) => baseUnits === undefined))
    throw new InvalidOption('perRequest does not bound deposits: give perDay, perHost or total in baseUnits too')
}
