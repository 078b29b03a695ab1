import { parsePriced, parsePriceMicroUsd, priceRule } from './parsePrices.ts'
import type { ParsedList, SettingEntry } from './commaList.ts'

export interface ModelPrice {
  readonly priceMicroUsd: bigint
  /** Undefined: the operator's limit for all models. */
  readonly outputTokensMax: number | undefined
}

export type ModelPrices = ReadonlyMap<string, ModelPrice>

export const outputTokensMost = 32_768

// The name becomes part of price lists, receipts and account names.
const modelPattern = /^[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,99}$/

/** Parses `AI_MODEL_PRICES_USD`, such as `large=0.25,huge=1.5:8192`: price and maximum of tokens of a reply. */
export function parseModelPrices(setting: string): ParsedList<ModelPrices> {
  return parsePriced(setting, modelPriceOf)
}

function modelPriceOf({ text, name, value }: SettingEntry): ModelPrice | string {
  if (value === undefined || !modelPattern.test(name))
    return `has "${text}": write model=price or model=price:tokens, such as large=0.25:4096, separated by commas`
  const [price = '', tokens, ...rest] = value.split(':')
  const priceMicroUsd = parsePriceMicroUsd(price)
  if (priceMicroUsd === undefined) return `has "${text}": ${priceRule}`
  const outputTokensMax = tokens === undefined ? undefined : Number(tokens)
  const isLimit = tokens === undefined || (/^[1-9]\d{0,4}$/.test(tokens) && Number(tokens) <= outputTokensMost)
  if (!isLimit || rest.length > 0)
    return `has "${text}": the tokens must be a whole number from 1 to ${outputTokensMost}, such as 4096`
  return { priceMicroUsd, outputTokensMax }
}

/** The first model is the default, and its price must be in `PRICES_USD`. */
export function findModelPriceProblems(prices: ModelPrices, models: readonly string[]): readonly string[] {
  const [standard] = models
  return [...prices.keys()].flatMap((name) => {
    if (!models.includes(name))
      return [`AI_MODEL_PRICES_USD names "${name}", which no server offers. The models are ${models.join(', ')}`]
    if (name !== standard) return []
    return [
      `AI_MODEL_PRICES_USD names "${name}", the model of requests that name none. Set its price in PRICES_USD, or name another model first in AI_MODEL`,
    ]
  })
}
