import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { setUp } from '@tollbook/agent/setUp/setUp'
import { openWalletFolder, walletFolder } from '@tollbook/agent/walletFolder'
import { readPolicyFile } from '@tollbook/agent/policy/policyFile'
import { answersJson, openLoopbackServer } from '../support/loopbackServer.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'

test('mcp init says that the chain of local mode has moved since the policy was written', async () => {
  const folder = walletFolder(join(await makeScratchDirectory(), 'wallet'))
  await openWalletFolder(folder)
  const policy = {
    rpcUrl: 'http://127.0.0.1:1001',
    hosts: { '127.0.0.1:3402': {} },
    mints: { EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v: { name: 'token', usdPerToken: '0.001' } },
    limits: { perRequestUsd: '0.25', perDayUsd: '1' },
    confirmAboveUsd: '0.25',
  }
  await writeFile(folder.policy, JSON.stringify(policy), { mode: 0o600 })
  const init = async (rpcUrl: string) => {
    const printed: string[] = []
    const local = { baseUrl: 'http://127.0.0.1:3402', rpcUrl }
    const write = (text: string) => void printed.push(text)
    await setUp({ folder, service: undefined, rpcUrl: undefined, local, write })
    return printed.join('')
  }
  expect(await init('http://127.0.0.1:1002')).toContain(
    'set its rpcUrl to http://127.0.0.1:1002: the chain of local mode',
  )
  expect(await init('http://127.0.0.1:1001')).not.toContain('set its rpcUrl')
})

test.each([
  [1e-7, '0.0000001'],
  [0.25, '0.25'],
  [100, '100'],
])(
  'the first policy counts a token that costs %s USD as %s, and asks above the limit per request',
  async (priceUSD, usd) => {
    const mint = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
    const { url } = await openLoopbackServer(answersJson(200, { data: { mint, priceUSD } }))
    const folder = walletFolder(join(await makeScratchDirectory(), 'wallet'))
    await setUp({ folder, service: url, rpcUrl: 'http://127.0.0.1:1', write: () => undefined })
    const { policy } = await readPolicyFile(folder.policy)
    expect(policy).toMatchObject({
      mints: { [mint]: { usdPerToken: usd } },
      confirmAboveUsd: policy.limits.perRequestUsd,
    })
    expect([policy.rpcUrl, Object.keys(policy.hosts)]).toEqual(['http://127.0.0.1:1', [new URL(url).host]])
  },
)

test('a price behind a redirect is not read, because the policy would name the host that redirects', async () => {
  const other = await openLoopbackServer(answersJson(200, { data: { mint: 'mint', priceUSD: 1 } }))
  const { url } = await openLoopbackServer((_, response) => response.writeHead(302, { location: other.url }).end())
  const folder = walletFolder(join(await makeScratchDirectory(), 'wallet'))
  const written = setUp({ folder, service: url, rpcUrl: 'http://127.0.0.1:1', write: () => undefined })
  await expect(written).rejects.toThrow('answers 302 without a token')
  expect(other.asked).toEqual([])
})
