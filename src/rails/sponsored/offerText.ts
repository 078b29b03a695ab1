import { memoOfSecret } from '@tollbook/core/binding'
import { randomToken } from '@tollbook/core/id'
import type { ListedPrice } from '@tollbook/core/quote'

/** The parts that are unique to an offer. The memo goes on chain, and only the payer gets the secret behind it. */
export interface Binding {
  readonly memo: string
  readonly secret: string
}

/** Creates a fresh secret with its memo. */
export function newBinding(): Binding {
  const secret = randomToken()
  return { secret, memo: memoOfSecret(secret) }
}

export type OfferText = (binding: Binding) => string

export interface OfferTexts {
  /** Returns the text of an offer. Besides the price list, `key` contains every value on which the text depends. */
  of(price: Pick<ListedPrice, 'priceList'>, key: string, write: OfferText): OfferText
}

// Placeholders in a text, which must not occur in its other parts.
const places: Binding = { memo: '{the memo}', secret: '{the secret}' }

/** Prepares the text of an offer once for each price list. Writing the JSON for each offer took a tenth of the time of a 402. */
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
