import { createLocalJWKSet, jwtVerify } from 'jose'
import { expect, test } from 'vitest'
import { openLocalFinance } from '../../../src/cli/local/financeTokens.ts'
import { openHome } from '../../../src/cli/local/home.ts'
import { makeScratchDirectory } from '../../support/scratchDirectory.ts'
import { steppedClock } from '../../support/steppedClock.ts'

test('local mode issues a token for each role, which its own key verifies for thirty days', async () => {
  const clock = steppedClock()
  const home = await openHome(await makeScratchDirectory())
  const { config, financeToken, auditorToken, supportToken } = await openLocalFinance(home, clock)
  if (!('jwks' in config.keys)) throw new Error('the keys are in the configuration')
  const { jwks } = config.keys
  expect(Object.keys(jwks.keys[0] ?? {}).toSorted(), 'the private part stays in the home').toEqual(['crv', 'kty', 'x'])
  const { issuer, audience } = config
  const seconds = Math.floor(clock.nowMs() / 1000)
  const claimsOf = async (token: string) => {
    const keys = createLocalJWKSet({ keys: [...jwks.keys] })
    return (await jwtVerify(token, keys, { issuer, audience, currentDate: new Date(clock.nowMs()) })).payload
  }
  const lifetime = { iat: seconds, exp: seconds + 2_592_000 }
  expect(await claimsOf(financeToken)).toMatchObject({ roles: ['finance'], sub: 'local finance', ...lifetime })
  expect(await claimsOf(auditorToken)).toMatchObject({ roles: ['auditor'], ...lifetime })
  expect(await claimsOf(supportToken)).toMatchObject({ roles: ['support'], ...lifetime })
})
