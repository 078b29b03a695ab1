import { memoOfSecret } from '@tollbook/core/binding'
import { randomToken } from '@tollbook/core/id'
import type { ListedPrice } from '@tollbook/core/quote'

/** Secret and memo of one offer. The memo goes on chain, and only the payer gets the secret. */
export interface Binding {
  readonly memo: string
  readonly secret: string
}

export function newBinding(): Binding {
  const secret = randomToken()
  return { secret, memo: memoOfSecret(secret) }
}

export type OfferText = (binding: Binding) => string

export interface OfferTexts {
  /** Returns the prepared text. In addition to the price list, `key` must contain every value on which the text depends. */
  of(price: Pick<ListedPrice, 'priceList'>, key: string, write: OfferText): OfferText
}

// Placeholders for memo and secret in a prepared text. They must not occur elsewhere in the text.
const places: Binding = { memo: '{the memo}', secret: '{the secret}' }

/**
 * Creates a cache of offer texts. Each text is written once for each price list, because writing the JSON for each
 * offer took a tenth of the time of a 402.
 */
export function createOfferTexts(): OfferTexts {
  const prepared = new Map<string, OfferText>()
  let ofList: number | undefined
  return {
    of({ priceList }, key, write) {
      if (priceList !== ofList) prepared.clear()
      ofList = priceList
      const text = prepared.get(key) ?? fillIn(write(places))
      prepared.set(key, text)
      return text
    },
  }
}

function fillIn(text: string): OfferText {
  const parts = text.split(/(\{the memo\}|\{the secret\})/)
  return ({ memo, secret }) =>
    parts.map((part) => (part === places.memo ? memo : part === places.secret ? secret : part)).join('')
}
