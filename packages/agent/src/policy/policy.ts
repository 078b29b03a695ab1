import { readAddress } from '@tollbook/core/address'
import { parseDecimal } from '@tollbook/core/money'
import { findUrlProblem } from '@tollbook/client/secureUrl'
import { attoUsdScale } from '@tollbook/client/spendingLimit'
import { z } from 'zod'
import { usdPattern } from '../attoUsd.ts'

/*
 * Policy of the wallet's owner: the amounts that agents may spend, and the hosts that they may pay. It is read from a
 * file that no tool writes.
 */

const usdRule = "must be US dollars as a text, such as '0.25'"
const amountUsd = z.string(usdRule).regex(usdPattern, usdRule)
const worthUsd = amountUsd.refine((text) => parseDecimal(text, attoUsdScale) !== 0n, 'must be more than zero')
const baseUnits = z.string().regex(/^\d{1,20}$/, "must be base units as a text, such as '5000000'")
const address = z.string().refine((text) => readAddress(text) !== undefined, 'must be a Solana address')

const hostRule = z.strictObject({
  /** The only wallet to which payments for this host may go. Absent: any wallet. */
  payTo: address.optional(),
  /** The only wallet to which deposits for tabs may go. Absent: any wallet, or no deposit if `payTo` is given. */
  tabPayTo: address.optional(),
  /** False: offer no typed tools for this host. */
  tools: z.boolean().default(true),
})

const mintRule = z.strictObject({
  name: z.string().regex(/^[\w .-]{1,32}$/, 'must have 1 to 32 letters, digits, blanks, dots or hyphens'),
  /**
   * Value of one token in US dollars. A payment counts as at least this value, even if the service states a lower
   * price.
   */
  usdPerToken: worthUsd,
  perRequestBaseUnits: baseUnits.optional(),
  perDayBaseUnits: baseUnits.optional(),
  perHostBaseUnits: baseUnits.optional(),
  totalBaseUnits: baseUnits.optional(),
})
export type MintRule = z.infer<typeof mintRule>

export const policyShape = z.strictObject({
  rpcUrl: z
    .string()
    .refine((url) => findUrlProblem(url) === undefined, 'must be an http(s) URL without user name and password'),
  /** CAIP-2 name that services use for this chain. Absent: the name that follows from its genesis hash. */
  network: z.string().max(64).optional(),
  hosts: z.record(z.string().superRefine(checkHost), hostRule),
  mints: z
    .record(address, mintRule)
    .refine((mints) => Object.keys(mints).length > 0, 'must have the mint that the wallet pays in')
    .refine(haveOwnNames, 'must have a different name for each mint, because a person is asked by the name'),
  limits: z
    .strictObject({
      perRequestUsd: amountUsd.default('0.25'),
      /** Limit for one day, from midnight to midnight UTC. */
      perDayUsd: amountUsd.default('1'),
      perHostUsd: amountUsd.optional(),
      totalUsd: amountUsd.optional(),
    })
    .prefault({}),
  /** Payments above this amount need the consent of a person. Absent: no payment needs it. */
  confirmAboveUsd: amountUsd.optional(),
  /**
   * Size of deposits at services that sell tabs; false: no deposits. A deposit of a stated size needs no further
   * consent. Absent: deposits of 1 dollar, within `confirmAboveUsd`.
   */
  tabs: z
    .union([z.literal(false), z.strictObject({ depositUsd: z.literal([1, 5, 10, 20]) })], {
      error: 'must be false, or {"depositUsd": 1}, 5, 10 or 20',
    })
    .optional(),
})
export type Policy = z.infer<typeof policyShape>

/** The policy cannot be used. The wallet pays nothing until the owner has corrected the file. */
export class PolicyProblem extends Error {
  override readonly name = 'PolicyProblem'
  readonly mistakes: readonly string[]
  /** True if the file does not exist. `mcp init` writes the first policy, but never replaces a faulty one. */
  readonly isMissing: boolean

  constructor(path: string, mistakes: readonly string[], { isMissing = false } = {}) {
    super(`the policy ${path} cannot be used:\n${mistakes.map((mistake) => `- ${mistake}`).join('\n')}`)
    this.mistakes = mistakes
    this.isMissing = isMissing
  }
}

/** Parses a policy, or throws a `PolicyProblem` that lists all mistakes at once. */
export function readPolicy(text: string, path: string): Policy {
  const parsed = policyShape.safeParse(parseJson(text, path))
  if (parsed.success) return parsed.data
  throw new PolicyProblem(
    path,
    parsed.error.issues.map((issue) => `${issue.path.join('.') || 'the file'}: ${reasonOf(issue)}`),
  )
}

/** The issue of a host or a mint that is written wrongly contains the reason. */
function reasonOf(issue: z.core.$ZodIssue): string {
  return (issue.code === 'invalid_key' ? issue.issues[0]?.message : undefined) ?? issue.message
}

function parseJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new PolicyProblem(path, [`the file is not JSON: ${error instanceof Error ? error.message : String(error)}`])
  }
}

function haveOwnNames(mints: Readonly<Record<string, MintRule>>): boolean {
  const names = Object.values(mints).map(({ name }) => name.toLowerCase())
  return new Set(names).size === names.length
}

/** Requires the form that the URL parser writes, so that the same host cannot be listed in two spellings. */
function checkHost(host: string, context: z.RefinementCtx): void {
  const normal = URL.canParse(`https://${host}`) ? new URL(`https://${host}`).host : undefined
  if (normal === host) return
  const hint = normal === undefined || /[/@?#\\\s]/.test(host) ? 'a host such as api.example.com' : `'${normal}'`
  context.addIssue(`must be ${hint} (got '${host}')`)
}

/**
 * Returns the origin of a host. Only this machine is reached without TLS, because anyone who reads a proof on the way
 * could use it.
 */
export function hostOrigin(host: string): string {
  return `${/^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(host) ? 'http' : 'https'}://${host}`
}
