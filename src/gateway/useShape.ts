import { z } from 'zod'
import { parseDecimal } from '@tollbook/core/money'
import { usdDecimals } from '../pricing/priceList.ts'
import { perMillionMax } from '../pricing/parseMeteredPrices.ts'
import { pointerText, priceText } from './fileTexts.ts'

/** A price of a million units, which may be 0. */
const rateText = z.union([z.string(), z.number()]).transform((value, context) => {
  const rate = parseDecimal(String(value), usdDecimals)
  if (rate !== undefined && rate <= perMillionMax) return rate
  context.addIssue('must be a decimal number of US dollars from 0 to 10000, such as 3')
  return z.NEVER
})

/** The price by use of a route. `usePrice.ts` checks the combination. */
export const useShape = z.strictObject({
  input_per_million: rateText.optional().describe('Price of a million tokens of the prompt.'),
  output_per_million: rateText.optional().describe('Price of a million tokens of the reply.'),
  per_million_bytes: rateText.optional().describe('Price of a million bytes of the answer.'),
  rows: pointerText.optional().describe('JSON pointer in the answer: an array, whose items count, or a number.'),
  per_row: priceText.optional().describe('Price of a row.'),
  minimum: priceText.prefault('0.000001').describe('Charged for an answer that used less.'),
})

export type UseEntry = z.infer<typeof useShape>

/** Prices by use, by the value of a parameter. */
export const useByValue = z.record(z.string(), useShape)
