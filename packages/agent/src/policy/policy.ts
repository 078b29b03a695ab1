import { readAddress } from '@tollbook/core/address'
import { parseDecimal } from '@tollbook/core/money'
import { attoUsdScale } from '../attoUsd.ts'
import { z } from 'zod'

/* The policy of a wallet's owner: what its agents may spend, and where. It is read from a file that no tool writes. */

const decimal = /^\d{1,9}(\.\d{1,18})?$/
const amountUsd = z.string().regex(decimal, "must be US dollars as a text, such as '0.25'")
const worthUsd = amountUsd.refine((text) => parseDecimal(text, attoUsdScale) !== 0n, 'must be more than zero')
const baseUnits = z.string().regex(/^\d{1,20}$/, "must be base units as a text, such as '5000000'")
const address = z.string().refine((text) => readAddress(text) !== undefined, 'must be a Solana address')

const hostRule = z.strictObject({
  /** The only wallet that payments for this host may go to. */
  payTo: address.optional(),
  /** The only wallet that deposits for tabs may go to. A host with `payTo` alone gets no deposit. */
  tabPayTo: address.optional(),
  /** False: offer no typed tools for this host. */
  tools: z.boolean().default(true),
})

const mintRule = z.strictObject({
  name: z.string().regex(/^[\w .-]{1,32}$/, 'must have 1 to 32 letters, digits, blanks, dots or hyphens'),
  /** Worth of one token at most. A payment counts at least this, whatever the service says that the token costs. */
  usdPerToken: worthUsd,
  perRequestBaseUnits: baseUnits.optional(),
  perDayBaseUnits: baseUnits.optional(),
  perHostBaseUnits: baseUnits.optional(),
  totalBaseUnits: baseUnits.optional(),
})
export type MintRule = z.infer<typeof mintRule>

export const policyShape = z.strictObject({
  rpcUrl: z.url({ protocol: /^https?$/ }),
  /** CAIP-2 name, if the services of this chain call it differently than its genesis hash does. */
  network: z.string().max(64).optional(),
  hosts: z.record(z.string().superRefine(checkHost), hostRule),
  mints: z
    .record(address, mintRule)
    .refine((mints) => Object.keys(mints).length > 0, 'must have the mint that the wallet pays in')
    .refine(haveOwnNames, 'must have a different name for each mint, because a person is asked by the name'),
  limits: z
    .strictObject({
      perRequestUsd: amountUsd.default('0.25'),
      /** From midnight UTC to midnight UTC. */
      perDayUsd: amountUsd.default('1'),
      perHostUsd: amountUsd.optional(),
      totalUsd: amountUsd.optional(),
    })
    .prefault({}),
  /** Payments above this need the consent of a person. */
  confirmAboveUsd: amountUsd.optional(),
  /** Deposits at services that sell tabs, or none. A size that the owner names here needs no further consent. */
  tabs: z
    .union([z.literal(false), z.strictObject({ depositUsd: z.literal([1, 5, 10, 20]) })], {
      error: 'must be false, or {"depositUsd": 1}, 5, 10 or 20',
    })
    .optional(),
})
export type Policy = z.infer<typeof policyShape>

/** A policy that cannot be used. The wallet pays nothing until the owner has corrected it. */
export class PolicyProblem extends Error {
  override readonly name = 'PolicyProblem'
  readonly mistakes: readonly string[]
  /** True if there is no file. */
  readonly isMissing: boolean

  constructor(path: string, mistakes: readonly string[], { isMissing = false } = {}) {
    super(`the policy ${path} cannot be used:\n${mistakes.map((mistake) => `- ${mistake}`).join('\n')}`)
    this.mistakes = mistakes
    this.isMissing = isMissing
  }
}

/** Throws `PolicyProblem` with every mistake. */
export function readPolicy(text: string, path: string): Policy {
  const parsed = policyShape.safeParse(parseJson(text, path))
  if (parsed.success) return parsed.data
  throw new PolicyProblem(
    path,
    parsed.error.issues.map(({ path: place, message }) => `${place.join('.') || 'the file'}: ${message}`),
  )
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

/** Accepts a host only as the URL parser writes it, so that two spellings of one host cannot differ. */
function checkHost(host: string, context: z.RefinementCtx): void {
  const normal = URL.canParse(`https://${host}`) ? new URL(`https://${host}`).host : undefined
  if (normal === host) return
  const hint = normal === undefined || /[/@?#\\\s]/.test(host) ? 'a host such as api.example.com' : `'${normal}'`
  context.addIssue(`must be ${hint} (got '${host}')`)
}

/** Origin of a listed host. Only this machine is reached without TLS: a proof is worth its price until it is used. */
export function hostOrigin(host: string): string {
  return `${/^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(host) ? 'http' : 'https'}://${host}`
}
