import { readAddress } from '@tollbook/core/address'
import { assertPresent } from '@tollbook/core/assert'
import { refuse } from '@tollbook/core/refusal'
import type { Challenge, PaymentRail } from '../../src/paywall/rail.ts'

export const scriptedPayer = assertPresent(readAddress('11111111111111111111111111111112'), 'an address')

/** A rail that only says what a test needs: its marker, its proof header, and its part of the 402. */
export function scriptedRail(name: string, challenge: Challenge | undefined = challengeOf(name)): PaymentRail {
  return {
    name,
    secretHeaders: [`${name}-proof`],
    requestHeaders: [`${name}-proof`],
    responseHeaders: [],
    carriesProof: (request) => request.header(`${name}-proof`) !== undefined,
    identify(request) {
      if (request.header(`${name}-wrong`) !== undefined) return refuse('NO_WALLET', `${name} has no wallet`)
      if (request.header(`${name}-wallet`) !== undefined) return { payer: scriptedPayer }
      const isMarked = request.header(name) !== undefined || this.carriesProof(request)
      return isMarked ? { payer: undefined } : undefined
    },
    challenge: () => Promise.resolve(challenge),
    read: () => refuse('INVALID_PAYMENT', 'not read here'),
    checkHolder: () => undefined,
    settle: ({ payment }) => Promise.resolve({ verdict: refuse('INVALID_PAYMENT', 'not settled here'), payment }),
    respond: () => ({}),
  }
}

export function challengeOf(name: string): Challenge {
  return { instruction: `pay by ${name}`, members: { [name]: 1 }, headers: { 'www-authenticate': `${name} x="1"` } }
}
