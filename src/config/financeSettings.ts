import { z } from 'zod'
import { type GivenVariables, hostName, httpUrl, type MissingVariable, optionalPort } from './variables.ts'

/** Access to the finance reports over HTTP. */
export interface FinanceSettings {
  /** The `iss` of the tokens, character for character. */
  readonly issuer: string
  readonly audience: string
  readonly keys: { readonly jwksUrl: string } | { readonly jwks: { keys: PublicKey[] } }
  /** A separate listener. Undefined only in local mode, which serves the reports on the service's. */
  readonly listener: { readonly host: string; readonly port: number } | undefined
  /** Base of the public routes: empty on the same listener, undefined without PUBLIC_URL. */
  readonly publicUrl: string | undefined
}

interface PublicKey {
  readonly kty: string
  readonly crv: string
  readonly x: string
}

const financeAudience = 'tollbook-finance'

export const financeVariables = {
  FINANCE_PORT: optionalPort,
  FINANCE_HOST: hostName.default('127.0.0.1'),
  FINANCE_ISSUER: z.string().optional(),
  FINANCE_AUDIENCE: z.string().default(financeAudience),
  FINANCE_JWKS_URL: httpUrl,
}

type FinanceEnvironment = z.infer<z.ZodObject<typeof financeVariables>>

/** All three or none: a listener that admits no token and keys without a listener are both mistakes. */
export function missingFinanceVariables(given: GivenVariables): readonly MissingVariable[] {
  const needed = [
    ['FINANCE_PORT', 'the port of the finance reports'],
    ['FINANCE_ISSUER', 'the issuer of the tokens that may read the finance reports'],
    ['FINANCE_JWKS_URL', 'where that issuer publishes its keys'],
  ] as const
  const missing = needed.filter(([name]) => given[name] === undefined)
  return missing.length === needed.length ? [] : missing
}

/** Undefined: the reports are not served over HTTP, except by local mode, which issues its own tokens. */
export function financeSettingsOf(env: FinanceEnvironment, publicUrl: string | undefined): FinanceSettings | undefined {
  const { FINANCE_PORT: port, FINANCE_ISSUER: issuer, FINANCE_JWKS_URL: jwksUrl } = env
  if (port === undefined || issuer === undefined || jwksUrl === undefined) return undefined
  const listener = { host: env.FINANCE_HOST, port }
  return { issuer, audience: env.FINANCE_AUDIENCE, keys: { jwksUrl }, listener, publicUrl }
}
