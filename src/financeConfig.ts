import { z } from 'zod'

/** Who may read the reports over HTTP, and where. */
export interface FinanceConfig {
  /** Of the tokens, exactly as in their `iss`. */
  readonly issuer: string
  readonly audience: string
  readonly keys: { readonly jwksUrl: string } | { readonly jwks: { keys: PublicKey[] } }
  /** A listener of its own; undefined only in local mode, where it is the service's. */
  readonly listener: { readonly host: string; readonly port: number } | undefined
}

interface PublicKey {
  readonly kty: string
  readonly crv: string
  readonly x: string
}

const financeAudience = 'tollbook-finance'

const port = z
  .string()
  .regex(/^\d{1,5}$/, 'must be a port')
  .transform(Number)
  .refine((value) => value <= 65_535, 'must be a port')
  .optional()

export const financeVariables = {
  FINANCE_PORT: port,
  FINANCE_HOST: z.string().default('127.0.0.1'),
  FINANCE_ISSUER: z.string().optional(),
  FINANCE_AUDIENCE: z.string().default(financeAudience),
  FINANCE_JWKS_URL: z
    .string()
    .refine((value) => /^https?:\/\//.test(value) && URL.canParse(value), 'must be an http(s) URL')
    .optional(),
}

type Environment = z.infer<z.ZodObject<typeof financeVariables>>

/** All three or none: a listener that lets nobody in, or keys without a listener, is a mistake. */
export function missingFinanceVariables(env: Environment): readonly (readonly [name: string, why: string])[] {
  const needed = [
    ['FINANCE_PORT', 'where the finance reports listen'],
    ['FINANCE_ISSUER', 'the issuer of the tokens that may read the finance reports'],
    ['FINANCE_JWKS_URL', 'where that issuer publishes its keys'],
  ] as const
  const missing = needed.filter(([name]) => env[name] === undefined)
  return missing.length === needed.length ? [] : missing
}

export function financeConfigOf(env: Environment): FinanceConfig | undefined {
  const { FINANCE_PORT: port, FINANCE_ISSUER: issuer, FINANCE_JWKS_URL: jwksUrl } = env
  if (port === undefined || issuer === undefined || jwksUrl === undefined) return undefined
  return { issuer, audience: env.FINANCE_AUDIENCE, keys: { jwksUrl }, listener: { host: env.FINANCE_HOST, port } }
}
