import { assertPresent } from '@tollbook/core/assert'
import { decodeBase58, encodeBase58 } from '@tollbook/core/base58'
import {
  attempt,
  blockTimeMs,
  burn,
  claimed,
  dollarPrice,
  type Fields,
  fulfilled,
  listed,
  price,
  required,
  type ReplayedLedger,
  settlement,
  signed,
  wallet,
} from './replayedLedger.ts'

/* A tab of a ledger whose bodies are written by hand: its deposit, debits, charges and its end. */

export const hourMs = 3_600_000
export const endpoint = '/api/tabs'
export const deposit = `solana:${signed(3)}`
const bytesOf = (seed: number) => assertPresent(decodeBase58(signed(seed), 64), 'a signature has 64 bytes')
export const tabOf = (seed: number) => encodeBase58(bytesOf(seed).slice(0, 16))
export const tab = tabOf(3)
export const stream = `tab:${tab}`

/** The price of a deposit that pays for five requests at this price. */
export function depositOf(of: typeof price) {
  const requiredBaseUnits = String(5 * Number(of.requiredBaseUnits))
  const { priceMicroUsd, tokenPriceAttoUsd, mint, decimals } = of
  const shares = [{ account: 'prepaid', baseUnits: requiredBaseUnits }]
  const common = { endpoint, mint, decimals, tokenPriceAttoUsd, requiredBaseUnits, burnBaseUnits: '0', shares }
  return { ...common, priceMicroUsd: String(5 * Number(priceMicroUsd)) }
}

export const terms = {
  sessionKey: null,
  bearerHash: 'ab',
  maxPerRequestBaseUnits: String(required),
  maxPerDayBaseUnits: null,
  endsAtMs: blockTimeMs + hourMs,
}

interface Opening {
  readonly of?: typeof price
  readonly terms?: Fields
  readonly opened?: Fields
  readonly metered?: readonly Fields[]
}

export const buyDeposit = (ledger: ReplayedLedger, of: typeof price, reference = deposit): ReplayedLedger => {
  const { mint, requiredBaseUnits } = depositOf(of)
  const paid = { price: depositOf(of), burnedBaseUnits: '0', receivedBaseUnits: requiredBaseUnits, reference }
  const claim = { ...claimed, endpoint, mint, exposedBaseUnits: requiredBaseUnits }
  return ledger.append(reference, ['PaymentVerified', settlement(paid)], ['ProofClaimed', claim])
}

export function openTab({ of = price, terms: given = {}, opened = {}, metered = [] }: Opening = {}): ReplayedLedger {
  const prices = [price, dollarPrice, depositOf(price), depositOf(dollarPrice)]
  const ledger = buyDeposit(listed({ prices, ...(metered.length === 0 ? {} : { metered }) }), of)
  const { mint, requiredBaseUnits: depositBaseUnits } = depositOf(of)
  const fields = { tab, mint, wallet, depositBaseUnits, terms: { ...terms, ...given }, ...opened }
  return ledger.append(deposit, ['RequestFulfilled', fulfilled], ['TabOpened', fields])
}

export const debited: Fields = {
  ...attempt,
  tab,
  number: '1',
  deposit,
  slot: 100,
  blockTimeMs,
  wallet,
  price,
  priceList: 1,
  leaseMs: 60_000,
  orderDigest: 'ab',
  bearerHash: 'ab',
  signed: null,
  lifecycle: 0,
}
const { mint, shares } = price
export const captured: Fields = { attempt: 1, answerDigest: 'cd', mint, burnBaseUnits: String(burn), shares }
export const failed: Fields = { ...attempt, reason: 'no_data', mint, exposedBaseUnits: '0' }
export const returned: Fields = { tab, mint, baseUnits: String(required) }

export const debit = (given: Fields = {}, ledger = openTab(), atMs = blockTimeMs) =>
  ledger.append(`${stream}:1`, ['TabDebited', { ...debited, ...given }, atMs])
export const capture = (given: Fields = {}, ledger = debit()) =>
  ledger.append(`${stream}:1`, ['TabCaptured', { ...captured, ...given }])
export const release = (given: Fields = {}, ledger = debit()) =>
  ledger.append(`${stream}:1`, ['RequestFailed', failed], ['TabReturned', { ...returned, ...given }])
export const replaceKeys = (ledger: ReplayedLedger) =>
  ledger.append(stream, ['TabKeyReplaced', { tab, sessionKey: null, bearerHash: 'cd' }])
export const close = (given: Fields = {}, ledger = openTab(), atMs = blockTimeMs) => {
  const closed = { tab, mint, wallet, restBaseUnits: String(5 * required), by: 'wallet', ...given }
  return ledger.append(stream, ['TabClosed', closed, atMs])
}
