import { z } from 'zod'
import { parseDecimal } from '@tollbook/core/money'
import { postgresUrl } from './variables.ts'

/** Decisions of people about refunds. */
export interface RefundSettings {
  /** A login of `tollbook_finance`. Undefined: refunds are decided on the command line only. */
  readonly databaseUrl: string | undefined
  /** Largest value of one decision, in millionths of a dollar at the quoted price. */
  readonly limits: { readonly finance: bigint; readonly support: bigint }
}

const usdDecimals = 6
const usd = (standard: string) =>
  z
    .string()
    .default(standard)
    .transform((value, context) => {
      const amount = parseDecimal(value, usdDecimals)
      if (amount !== undefined) return amount
      context.addIssue('must be a decimal number of US dollars, such as 0.05')
      return z.NEVER
    })

export const refundVariables = {
  FINANCE_DATABASE_URL: postgresUrl,
  REFUND_MAX_FINANCE_USD: usd('100'),
  REFUND_MAX_SUPPORT_USD: usd('1'),
}

export function refundSettingsOf(env: z.infer<z.ZodObject<typeof refundVariables>>): RefundSettings {
  return {
    databaseUrl: env.FINANCE_DATABASE_URL,
    limits: { finance: env.REFUND_MAX_FINANCE_USD, support: env.REFUND_MAX_SUPPORT_USD },
  }
}
