import { parsePriced, parsePriceMicroUsd, priceRule } from './parsePrices.ts'
import type { ParsedSetting, SettingEntry } from './settingList.ts'

/** The price of a reply of one model, and the tokens that it pays for. */
export interface ModelPrice {
  readonly priceMicroUsd: bigint
  /** Undefined: the operator's limit for all models. */
  readonly outputTokensMax: number | undefined
}

/** Models with a separate price. The others cost the price of the product. */
export type ModelPrices = ReadonlyMap<string, ModelPrice>

/** The largest limit of a reply that can be configured. */
export const outputTokensMost = 32_768

// The name becomes a part of price lists, receipts and names of accounts.
const modelPattern = /^[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,99}$/

/** `AI_MODEL_PRICES_USD`, such as `large=0.25,huge=1.5:8192`: models with the price of a reply, and the tokens it pays for. */
export function parseModelPrices(setting: string): ParsedSetting<ModelPrices> {
  return parsePriced(setting, modelPriceOf)
}

/** The price, or what is wrong with the entry. */
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

/** Mistakes that need the models on offer, the default first. */
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
