import { type Clock, systemClock } from '@tollbook/core/clock'
import { readAddress } from '@tollbook/core/address'
import { defaultFetch } from './defaultFetch.ts'
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

/** Deposits for services that sell tabs. The limits per day, per host and in total count each deposit. */
export interface TabOption {
  /** Amount of one deposit in US dollars. 0: spends an open tab of the store, and makes no deposit. */
  readonly depositUsd: 0 | 1 | 5 | 10 | 20
  /**
   * True: buys another deposit if the balance of the tab is less than the price. Default: such a request is paid
   * separately.
   */
  readonly topUp?: boolean
  /** Address of the wallet that the service uses for tabs. Required with `expectedPaymentWallet`. */
  readonly expectedWallet?: string
}

export interface PayingFetchOptions extends QuotePins {
  readonly wallet: PayerWallet
  /**
   * URL of a Solana node. The payer reads mints, balances and the blockhash from it, and in signature form sends the
   * transaction to it.
   */
  readonly rpcUrl: string
  readonly spendingLimit: SpendingLimit
  /**
   * Value of one token of `expectedMint` in US dollars, as a plain decimal. Limits in dollars count a payment as at
   * least this much, even if the service states less.
   */
  readonly usdPerToken?: string
  /**
   * Other payment protocols to accept. Their payments burn nothing. Their offers state no price in dollars, so payments
   * in `expectedMint` need `usdPerToken`, or base units in each spending limit.
   */
  readonly protocols?: readonly SponsoredProtocol[]
  /**
   * Mints that count as one dollar each. Offers of `protocols` may ask for any of them. Limits in dollars cover the sum
   * of all mints; limits in base units cover `expectedMint` only. `circle`: USDC.
   */
  readonly dollarMints?: DollarMints
  /**
   * Form of the proof. Default `bound`: no observer can use the payment, and the caller does not wait for its
   * confirmation.
   */
  readonly form?: ProofForm
  readonly retry?: Partial<RetryLimits>
  /** Keeps payments and spending across processes. Absent: each paying fetch starts with its full limits. */
  readonly store?: PaymentStore
  /** Called and awaited at each step. If it throws before the payment is sent, the payment stops. */
  readonly onEvent?: (event: PaymentProgress) => void | Promise<void>
  /**
   * Pays services that sell tabs by a deposit, and each request by a signed debit. Absent: one payment for each
   * request.
   */
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
  /** False: `worth` changes no cost, so the decimals of a mint do not matter. */
  readonly valuesTokens: boolean
  readonly dollarMints: readonly string[]
  readonly tab: TabOption | undefined
  readonly tabs: TabRecords
  readonly paysDeposit: boolean
  readonly form: ProofForm
  readonly protocols: readonly SponsoredProtocol[]
  readonly pins: QuotePins
  readonly retry: RetryLimits
  readonly onEvent: (event: PaymentProgress) => void | Promise<void>
  readonly fetch: Fetch
  readonly clock: Clock
}

/** Throws `InvalidOption`, which is a `TypeError`, if options are wrong or contradict each other. */
export function createPayer(options: PayingFetchOptions): Payer {
  const { wallet, rpcUrl, spendingLimit, form = 'bound', fetch = defaultFetch, clock = systemClock } = options
  if (readAddress(wallet.address) === undefined) throw new InvalidOption(`${wallet.address} is not a wallet address`)
  const budget = createBudget(spendingLimit)
  const { perRequest, perDay, perHost, total } = spendingLimit
  const ceilings = [perRequest, perDay, perHost, total].filter((ceiling) => ceiling !== undefined)
  const limitsTokens = ceilings.some(({ baseUnits }) => baseUnits !== undefined)
  const { protocols = [], usdPerToken, expectedMint } = options
  const dollarMints = readDollarMints(options.dollarMints, expectedMint)
  if (expectedMint === undefined && dollarMints.length === 0)
    throw new InvalidOption('a service could ask for any token of the wallet: give expectedMint or dollarMints')
  if (dollarMints.length > 0 && ceilings.some(({ usd }) => usd === undefined))
    throw new InvalidOption('payments in dollarMints count in dollars only: give each spending limit in usd too')
  const paysTokens = protocols.length > 0 && expectedMint !== undefined
  if (paysTokens && usdPerToken === undefined && ceilings.some(({ baseUnits }) => baseUnits === undefined))
    throw new InvalidOption(
      `offers of ${protocols.join(' and ')} state no dollars: give each spending limit in baseUnits too, or usdPerToken`,
    )
  if ((limitsTokens || usdPerToken !== undefined) && expectedMint === undefined)
    throw new InvalidOption('base units and usdPerToken say something of one token only: give expectedMint too')
  requireTabLimits(options)
  const { store } = options
  const [chain, open] = [connectPayerChain({ rpcUrl, fetch }), createOpenPayments(store)]
  return {
    wallet,
    chain,
    budget,
    stored: readStoredSpendings(store, expectedMint),
    open,
    refused: createRefusedPayments({ chain, open, store }),
    rent: createRentGuard(chain),
    worth: readTokenWorth(usdPerToken),
    valuesTokens: usdPerToken !== undefined,
    dollarMints,
    tab: options.tab,
    tabs: createTabRecords(store, wallet.address),
    paysDeposit: false,
    form,
    protocols,
    pins: options,
    retry: { ...defaultRetryLimits, ...options.retry },
    onEvent: options.onEvent ?? (() => undefined),
    // Wrap `fetch`, because the `fetch` of a browser throws when it is called as a method of another object.
    fetch: carryToolCalls((input, init) => fetch(input, init)),
    clock,
  }
}

/**
 * Requires a limit that bounds deposits, because the limit per request does not. If the limit per request is in base
 * units, one of the other limits must be in base units too.
 */
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
