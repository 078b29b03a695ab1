import { z } from 'zod'
import { complete, hostName, httpUrl, optionalPort, postgresUrl, usd, variable } from './variables.ts'

export interface FinanceConfig {
  /** Required value of the `iss` claim in tokens, compared exactly. */
  readonly issuer: string
  readonly audience: string
  readonly keys: { readonly jwksUrl: string } | { readonly jwks: { keys: PublicKey[] } }
  /** Address of a separate listener. Undefined only in local mode, which serves the reports on the service's listener. */
  readonly listener: { readonly host: string; readonly port: number } | undefined
}

interface PublicKey {
  readonly kty: string
  readonly crv: string
  readonly x: string
}

/**
 * Settings of the finance reports over HTTP. Undefined: the reports are not served, except in local mode, which issues
 * its own tokens.
 */
export const financeConfig = z
  .object({
    port: variable('FINANCE_PORT', optionalPort),
    host: variable('FINANCE_HOST', hostName.default('127.0.0.1')),
    issuer: variable('FINANCE_ISSUER', z.string().optional()),
    audience: variable('FINANCE_AUDIENCE', z.string().default('tollbook-finance')),
    jwksUrl: variable('FINANCE_JWKS_URL', httpUrl),
  })
  .transform((values): FinanceConfig | undefined => {
    const finance = complete(values)
    if (finance === undefined) return undefined
    const { issuer, audience, jwksUrl, host, port } = finance
    return { issuer, audience, keys: { jwksUrl }, listener: { host, port } }
  })

export const refundConfig = z.object({
  /**
   * Database URL with a login of `tollbook_finance`. Undefined: the service records no decisions about refunds.
   * `tollbook refund` reads this URL too.
   */
  databaseUrl: variable('FINANCE_DATABASE_URL', postgresUrl),
  /** Maximum value of one decision, in millionths of a dollar at the quoted price. */
  limits: z.object({
    finance: variable('REFUND_MAX_FINANCE_USD', usd.default(100_000_000n)),
    support: variable('REFUND_MAX_SUPPORT_USD', usd.default(1_000_000n)),
  }),
})

export type RefundConfig = z.infer<typeof refundConfig>
