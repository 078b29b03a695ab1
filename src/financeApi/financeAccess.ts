import { createLocalJWKSet, createRemoteJWKSet, errors, type JSONWebKeySet, type JWTPayload, jwtVerify } from 'jose'
import { z } from 'zod'
import type { Clock } from '@tollbook/core/clock'
import { describeError } from '@tollbook/core/fault'
import type { Log } from '../machine/log.ts'

/**
 * Roles of a token. `finance` reads everything, decides about refunds within its limit, and records bookings. `auditor`
 * reads everything. `support` reads payments, refunds and explanations, and decides about refunds within its limit.
 */
export const financeRoles = ['finance', 'support', 'auditor'] as const
export type FinanceRole = (typeof financeRoles)[number]

export interface FinanceAccessOptions {
  readonly issuer: string
  readonly audience: string
  /** Public keys of the issuer: the URL where the issuer publishes them, or the keys themselves. */
  readonly keys: { readonly jwksUrl: string } | { readonly jwks: JSONWebKeySet }
}

/** Decides whether a request may read or change finance data, and logs the decision. */
export interface FinanceAccess {
  judge(request: AccessRequest): Promise<AccessHolder | AccessRefusal>
}

export interface AccessRequest {
  readonly authorization: string | undefined
  /** Route of the request, for the log. */
  readonly route: string
  readonly requestId: string
  /** Accepted roles. The token must have at least one of them. */
  readonly allowed: readonly FinanceRole[]
}

export interface AccessHolder {
  readonly subject: string
  readonly roles: readonly FinanceRole[]
}

export type AccessRefusal = 'unauthenticated' | 'invalid_token' | 'forbidden' | 'keys_unavailable'

// Accepted signature algorithms. All use a private key. With HS256, a public key would be accepted as a shared
// password, and `none` has no signature.
const algorithms = ['EdDSA', 'Ed25519', 'ES256', 'RS256', 'PS256']
// Tolerance in seconds for the times of a token, because clocks differ.
const clockToleranceSeconds = 30
// Maximum characters of a token. A usual token has about 1 kB.
const tokenCharactersMax = 8_000
const jwksTimeoutMs = 5_000
// Minimum milliseconds between two fetches of the keys. An unknown key id makes the service fetch the keys, so a client
// could otherwise cause a fetch per request.
const jwksCooldownMs = 30_000
const jwksAgeMaxMs = 600_000

/**
 * Checks bearer tokens of the operator's identity provider. Logs every access with a valid token, and a limited number
 * of others. Never logs a token.
 */
export function createFinanceAccess(
  { issuer, audience, keys }: FinanceAccessOptions,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): FinanceAccess {
  const keySet =
    'jwks' in keys
      ? createLocalJWKSet(keys.jwks)
      : createRemoteJWKSet(new URL(keys.jwksUrl), {
          timeoutDuration: jwksTimeoutMs,
          cooldownDuration: jwksCooldownMs,
          cacheMaxAge: jwksAgeMaxMs,
        })
  const logRefusal = boundRefusals({ clock, log })
  return {
    async judge({ authorization, route, requestId, allowed }) {
      const token = readBearer(authorization)
      const line = { event: 'finance_access', route, requestId }
      const logged = (refusal: AccessRefusal, facts: object = {}) => {
        logRefusal({ ...line, outcome: refusal, ...facts })
        return refusal
      }
      if (token === undefined) return logged('unauthenticated')
      try {
        const { payload } = await jwtVerify(token, keySet, {
          issuer,
          audience,
          algorithms,
          clockTolerance: clockToleranceSeconds,
          requiredClaims: ['sub', 'exp'],
          currentDate: new Date(clock.nowMs()),
        })
        const holder = holderClaims.safeParse(payload)
        if (!holder.success) return logged('invalid_token', { why: 'malformed claims' })
        const roles = rolesOf(payload)
        const found = { subject: holder.data.sub.slice(0, subjectShownMax), roles }
        if (!roles.some((role) => allowed.includes(role))) {
          log.warn({ ...line, outcome: 'forbidden', ...found })
          return 'forbidden'
        }
        log.info({ ...line, outcome: 'granted', ...found })
        return found
      } catch (error) {
        if (isAboutTheToken(error)) return logged('invalid_token', { why: error.code })
        return logged('keys_unavailable', { error: describeError(error) })
      }
    },
  }
}

const subjectShownMax = 100
// Maximum number of logged refusals per minute, because clients can cause any number of them.
const refusalsPerMinuteMax = 60
const minuteMs = 60_000

interface RefusalLine {
  readonly event: string
  readonly route: string
  readonly requestId: string
  readonly outcome: AccessRefusal
}

/** The first line of a later minute contains the number of omitted refusals. */
function boundRefusals({ clock, log }: { readonly clock: Clock; readonly log: Log }) {
  let startedAtMs = -Infinity
  let logged = 0
  let leftOut = 0
  return (line: RefusalLine): void => {
    if (clock.monotonicMs() - startedAtMs >= minuteMs) {
      startedAtMs = clock.monotonicMs()
      logged = 0
    }
    if (logged >= refusalsPerMinuteMax) {
      leftOut++
      return
    }
    log.warn(leftOut === 0 ? line : { ...line, leftOut })
    logged++
    leftOut = 0
  }
}

function readBearer(authorization: string | undefined): string | undefined {
  const token = /^Bearer ([A-Za-z0-9_=.-]+)$/i.exec(authorization ?? '')?.[1]
  return token !== undefined && token.length <= tokenCharactersMax ? token : undefined
}

// Check the types of the claims, because jose checks only that they are present. Without this, 1e400 would become
// infinity, and such a token would never expire.
const holderClaims = z.object({ sub: z.string().min(1), exp: z.number() })
const rolesClaim = z.object({ roles: z.array(z.string()) })

function rolesOf(payload: JWTPayload): readonly FinanceRole[] {
  const given = rolesClaim.safeParse(payload).data?.roles ?? []
  return financeRoles.filter((role) => given.includes(role))
}

/** True if the error is about the token. Other errors of jose mean that the issuer's server did not answer. */
function isAboutTheToken(error: unknown): error is errors.JOSEError {
  if (!(error instanceof errors.JOSEError)) return false
  return !(
    error instanceof errors.JWKSTimeout ||
    error instanceof errors.JWKSInvalid ||
    error.code === 'ERR_JOSE_GENERIC'
  )
}
