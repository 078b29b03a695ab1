import type { ParsedList, SettingEntry } from './commaList.ts'
import type { MeteredPrice } from './meteredPrice.ts'
import { parsePriced, parsePriceMicroUsd, priceRule } from './parsePrices.ts'

export type MeteredPrices = ReadonlyMap<string, MeteredPrice>

/** Parses US dollars per million tokens of input and output, and the minimum: `small=0.2:0.8,large=3:12:0.001`. */
export function parseMeteredPrices(setting: string): ParsedList<MeteredPrices> {
  return parsePriced(setting, readMetered)
}

function readMetered({ text, name, value = '' }: SettingEntry): MeteredPrice | string {
  const [input = '', output = '', minimum = '0.000001', ...rest] = value.split(':')
  const [inputPerMillionMicroUsd, outputPerMillionMicroUsd] = [parsePriceMicroUsd(input), parsePriceMicroUsd(output)]
  if (name === '' || rest.length > 0 || inputPerMillionMicroUsd === undefined || outputPerMillionMicroUsd === undefined)
    return `has "${text}": write model=input:output or model=input:output:minimum, such as large=3:12:0.001, in US dollars per million tokens, each at most 10000`
  const minimumMicroUsd = parsePriceMicroUsd(minimum)
  if (minimumMicroUsd === undefined) return `has "${text}": ${priceRule}`
  return { inputPerMillionMicroUsd, outputPerMillionMicroUsd, minimumMicroUsd }
}
