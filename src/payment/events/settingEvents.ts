import { z } from 'zod'
import type { Json } from '@tollbook/core/canonicalJson'
import { defineEvent, type EventOf } from './eventDefinition.ts'
import { address, bigInteger, price } from './fields.ts'

/** Thousandths of each price. `burn` is burned, and the first other account takes the rounding remainder. */
const splitPart = z.object({ account: z.string(), perMille: z.int() })
export type SplitPart = Readonly<z.output<typeof splitPart>>

const reading = z.object({
  source: z.string(),
  tokenPriceAttoUsd: bigInteger,
  liquidityUsd: bigInteger.nullable().transform((usd) => usd ?? undefined),
})

/** Includes outliers and missing answers, so that the agreed price can be checked later. */
const marketEvidence = z.object({
  agreedAtMs: z.int(),
  tokenPriceAttoUsd: bigInteger,
  readings: z.array(reading).readonly(),
  silent: z.array(z.object({ source: z.string(), why: z.string() })).readonly(),
})
export type MarketEvidence = Readonly<z.output<typeof marketEvidence>>

const meteredPrice = z.object({
  endpoint: z.string(),
  inputPerMillionMicroUsd: bigInteger,
  outputPerMillionMicroUsd: bigInteger,
  minimumMicroUsd: bigInteger,
})

/** Recorded before any of its prices is quoted. Quotes refer to the list by its number. */
const priceListPublished = defineEvent(
  z.object({
    kind: z.literal('PriceListPublished'),
    source: z.string(),
    split: z.array(splitPart).readonly(),
    /**
     * Only dollar tokens whose split differs. Any other dollar token has the split of the service token, and its
     * treasury also gets the share of the burn.
     */
    dollarSplits: z
      .array(z.object({ mint: address, split: z.array(splitPart).readonly() }))
      .readonly()
      .exactOptional(),
    prices: z.array(price).readonly(),
    metered: z.array(meteredPrice).readonly().exactOptional(),
    /** Absent for a price that the operator fixed. */
    evidence: marketEvidence.exactOptional(),
  }),
)
export type PriceListPublished = EventOf<typeof priceListPublished>

// Accepts the value unchanged, because the body is already parsed JSON. `z.json()` would copy the value and drop
// members with the name __proto__.
const json: z.ZodType<Json> = z.custom<Json>((value) => value !== undefined, 'no value')

/** Takes effect at `validFrom`, so that instances can be replaced before. */
const settingChanged = defineEvent(
  z.object({
    kind: z.literal('SettingChanged'),
    name: z.string(),
    number: z.int().min(1),
    validFrom: z.iso.datetime(),
    value: json,
  }),
)
export type SettingChanged = EventOf<typeof settingChanged>

export const settingEvents = [priceListPublished, settingChanged] as const
