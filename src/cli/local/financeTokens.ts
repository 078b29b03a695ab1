import { importJWK, SignJWT } from 'jose'
import type { Clock } from '@tollbook/core/clock'
import type { Home } from './home.ts'

const issuer = 'tollbook local mode'
const audience = 'tollbook-finance'
// Each start issues new tokens, so only a start that runs for longer than this outlives them.
const tokenDaysMax = 30

/** Local mode is its own identity provider: it keeps a key in the home, and issues a token per role at every start. */
export async function openLocalFinance(home: Home, clock: Clock) {
  const { d, ...publicKey } = await home.signingKey('finance-key')
  const key = await importJWK({ ...publicKey, d }, 'EdDSA')
  const issuedAtSeconds = Math.floor(clock.nowMs() / 1000)
  const tokenOf = (role: string) =>
    new SignJWT({ roles: [role] })
      .setProtectedHeader({ alg: 'EdDSA' })
      .setIssuer(issuer)
      .setAudience(audience)
      .setSubject(`local ${role}`)
      .setIssuedAt(issuedAtSeconds)
      .setExpirationTime(issuedAtSeconds + tokenDaysMax * 24 * 60 * 60)
      .sign(key)
  return {
    config: { issuer, audience, keys: { jwks: { keys: [publicKey] } }, listener: undefined },
    financeToken: await tokenOf('finance'),
    auditorToken: await tokenOf('auditor'),
    supportToken: await tokenOf('support'),
  }
}
