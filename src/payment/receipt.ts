import { assert } from '@tollbook/core/assert'
import { isoTime } from '@tollbook/core/clock'
import { displayNumber } from '@tollbook/core/money'
import { requireSignature } from './paymentReference.ts'
import { isPaidWhole, type Settlement, type Usage } from './settlement.ts'
import { isDepositPrice } from './tabSettlement.ts'

/**
 * A signed statement that an answer was delivered for a payment. It is a function of the ledger alone. The receipt of a
 * replayed answer is therefore byte for byte the same as the first one, until the receipt key changes. Amounts are base
 * units as decimal strings. Only `requiredTokens` is a number, as in the interface.
 */
export interface Receipt {
  readonly id: string
  readonly wallet: string
  readonly endpoint: string
  readonly quoteId: string | null
  readonly signature: string
  readonly slot: number
  readonly blockTime: string
  readonly requiredTokens: number
  readonly requiredBaseUnits: string
  /** Amount that the payer burned inside the payment. */
  readonly burned: string
  /** Present if the payer sent the whole price. The service burns this amount later. */
  readonly burnOwed?: string
  /** Present for a payment in dollars. All other amounts are in this mint. */
  readonly currency?: { readonly mint: string; readonly decimals: number }
  /** Present if the payment in dollars owes a burn in the service token. The treasury delivers the tokens. */
  readonly tokenBurn?: { readonly mint: string; readonly baseUnits: string; readonly source: 'treasury' }
  /** Present if a tab paid. `signature`, `slot` and `blockTime` are then those of the deposit that opened it. */
  readonly tab?: ReceiptTab
  readonly distribution: Readonly<Record<string, string>>
  /** Number of the price list. Receipts of payments that the first release verified have neither list nor split. */
  readonly priceList?: number
  /** Percentages by account of that list's split, including `burn`, such as `"30%"`. */
  readonly split?: Split
  /** Position of the fulfilment in the ledger, and its RFC 6962 leaf hash in hex. */
  readonly ledger: { readonly position: number; readonly leafHash: string }
  readonly issuedAt: string
  /** Present if the key of `issuedAt` was replaced before this receipt was sent. It is the time of this signature. */
  readonly reissuedAt?: string
}

/** The debit of a receipt. The part of the hold that was not charged is on the tab again. */
export type ReceiptTab = {
  readonly id: string
  readonly number: string
  /** `signed`: the session key signed this request. `bearer`: the caller had the bearer key, which proves nothing later. */
  readonly authorization: 'signed' | 'bearer'
  readonly heldBaseUnits: string
  /** Present if the answer was paid by use, at the prices of `priceList`. */
  readonly usage?: Usage
}

/** `jws` is a compact EdDSA JWS over the rest. */
export type SignedReceipt = Receipt & { readonly jws: string }

export interface Fulfilment {
  readonly settlement: Settlement
  readonly endpoint: string
  readonly attemptId: string
  readonly position: number
  readonly leafHash: string
  readonly recordedAtMs: number
  /** Base units of the tab after the charge. Known to the first answer only, and not a part of its receipt. */
  readonly tabBalanceBaseUnits?: bigint
}

export interface ReceiptTerms {
  readonly split?: Split
  /** Present if the split of the dollar differs from the one of the token. */
  readonly dollarSplit?: Split
  readonly reissuedAtMs?: number
}

/** Creates the receipt of a delivery. Its id follows from the leaf, so a repeated request returns the same id. */
export function receiptOf(fulfilment: Fulfilment, terms: ReceiptTerms = {}): Receipt {
  const { settlement, endpoint, position, leafHash, recordedAtMs } = fulfilment
  const { price, evidence, priceList } = settlement
  const { split, dollarSplit, reissuedAtMs } = terms
  assert(/^[0-9a-f]{64}$/.test(leafHash), 'a leaf hash is 32 bytes in hex')
  return {
    id: `receipt_${leafHash.slice(0, 32)}`,
    wallet: settlement.wallet,
    endpoint,
    quoteId: settlement.quoteId ?? null,
    signature: requireSignature(settlement.debit?.deposit ?? settlement.reference),
    slot: evidence.slot,
    blockTime: isoTime(evidence.blockTimeMs),
    requiredTokens: displayNumber(price.requiredBaseUnits, price.decimals),
    requiredBaseUnits: price.requiredBaseUnits.toString(),
    burned: settlement.burnedBaseUnits.toString(),
    ...burnFactsOf(settlement, dollarSplit),
    ...tabOf(settlement),
    distribution: Object.fromEntries(price.shares.map(({ account, baseUnits }) => [account, baseUnits.toString()])),
    ...(priceList === undefined || split === undefined ? {} : { priceList, split: splitOf(price, split) }),
    ledger: { position, leafHash },
    issuedAt: isoTime(recordedAtMs),
    ...(reissuedAtMs === undefined ? {} : { reissuedAt: isoTime(reissuedAtMs) }),
  }
}

function burnFactsOf(
  settlement: Settlement,
  split: Split | undefined,
): Pick<Receipt, 'burnOwed' | 'currency' | 'tokenBurn'> {
  const { mint, decimals, burnBaseUnits, tokenBurn } = settlement.price
  if (!isPaidWhole(settlement) || isDepositPrice(settlement.price)) return {}
  if (burnBaseUnits > 0n) return { burnOwed: burnBaseUnits.toString() }
  const currency = { mint, decimals, ...(split === undefined ? {} : { split }) }
  if (tokenBurn === undefined) return { currency }
  return { currency, tokenBurn: { ...tokenBurn, baseUnits: tokenBurn.baseUnits.toString(), source: 'treasury' } }
}

type Split = Readonly<Record<string, string>>

const depositSplit: Split = { burn: '0%', prepaid: '100%' }

/** Nothing of a deposit is burned or shared until it is spent. */
function splitOf(price: Settlement['price'], split: Split): Split {
  return isDepositPrice(price) ? depositSplit : split
}

function tabOf({ debit, receivedBaseUnits, usage }: Settlement): Pick<Receipt, 'tab'> {
  if (debit === undefined) return {}
  const authorization = debit.signed === undefined ? 'bearer' : 'signed'
  const heldBaseUnits = receivedBaseUnits.toString()
  const used = usage === undefined ? {} : { usage }
  return { tab: { id: debit.tab, number: debit.number.toString(), authorization, heldBaseUnits, ...used } }
}
