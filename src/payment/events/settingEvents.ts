import { z } from 'zod'
import type { Json } from '@tollbook/core/canonicalJson'
import type { Price } from '@tollbook/core/quote'
import { defineEvent } from './eventDefinition.ts'
import { bigInteger, price } from './fields.ts'

/* Values in force from a moment on: price lists and the settings of the ledger. One stream for each version. */

/** One part of each price, in thousandths. The account `burn` is burned; the first other account takes the rest. */
export interface SplitPart {
  readonly account: string
  readonly perMille: number
}

/** All prices in tokens from this event on. Quotes refer to the list by its number. */
export interface PriceListPublished {
  readonly kind: 'PriceListPublished'
  readonly source: string
  /** How each price of the list is divided. */
  readonly split: readonly SplitPart[]
  readonly prices: readonly Price[]
  /** Why the token had this price, when the markets decided it; absent for a price that the operator fixed. */
  readonly evidence?: MarketEvidence
}

/** Answers of the markets when they agreed on a price, outliers and silence included. */
export interface MarketEvidence {
  readonly agreedAtMs: number
  readonly tokenPriceAttoUsd: bigint
  readonly readings: readonly {
    readonly source: string
    readonly tokenPriceAttoUsd: bigint
    readonly liquidityUsd: bigint | undefined
  }[]
  readonly silent: readonly { readonly source: string; readonly why: string }[]
}

const marketEvidence: z.ZodType<MarketEvidence> = z.object({
  agreedAtMs: z.int(),
  tokenPriceAttoUsd: bigInteger,
  readings: z.array(
    z.object({
      source: z.string(),
      tokenPriceAttoUsd: bigInteger,
      liquidityUsd: bigInteger.nullable().transform((usd) => usd ?? undefined),
    }),
  ),
  silent: z.array(z.object({ source: z.string(), why: z.string() })),
})

const priceListPublished = defineEvent<PriceListPublished>({
  kind: 'PriceListPublished',
  schema: z.object({
    kind: z.literal('PriceListPublished'),
    source: z.string(),
    split: z.array(z.object({ account: z.string(), perMille: z.int() })),
    prices: z.array(price),
    evidence: marketEvidence.exactOptional(),
  }),
})

/** A setting of the ledger has this value from `validFrom` on, until the next number of the same name. */
export interface SettingChanged {
  readonly kind: 'SettingChanged'
  readonly name: string
  /** 1, 2, 3… within the name. */
  readonly number: number
  /** ISO 8601 in UTC. */
  readonly validFrom: string
  readonly value: Json
}

// A body is parsed JSON. `z.json()` would copy the value, and leave out members with the name __proto__.
const json: z.ZodType<Json> = z.custom<Json>((value) => value !== undefined, 'no value')

const settingChanged = defineEvent<SettingChanged>({
  kind: 'SettingChanged',
  schema: z.object({
    kind: z.literal('SettingChanged'),
    name: z.string(),
    number: z.int().min(1),
    validFrom: z.iso.datetime(),
    value: json,
  }),
})

export const settingEvents = [priceListPublished, settingChanged] as const
