import { join } from 'node:path'
import { expect, test } from 'vitest'
import { appendReceipt, readReceipts, spendingReport } from '@tollbook/agent/wallet/walletReport'
import { readPolicy } from '@tollbook/agent/policy/policy'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'

const [mint, dollar] = ['So11111111111111111111111111111111111111112', '11111111111111111111111111111111']
const policy = readPolicy(
  JSON.stringify({
    rpcUrl: 'https://node.example.com',
    hosts: { 'api.example.com': {} },
    mints: { [mint]: { name: 'TOLL', usdPerToken: '0.001' }, [dollar]: { name: 'USDC', usdPerToken: '1' } },
    limits: { perDayUsd: '1', totalUsd: '5' },
  }),
  'policy.json',
)
const usd = 10n ** 18n

test('what was spent is counted apart for each mint, each host and the day of UTC', () => {
  const nowMs = Date.parse('2026-11-21T01:00:00.000Z')
  const spent = (host: string, of: string, baseUnits: bigint, hoursAgo: number) => {
    return {
      signature: `${host}${baseUnits}`,
      host,
      mint: of,
      baseUnits,
      attoUsd: usd / 4n,
      atMs: nowMs - hoursAgo * 3_600_000,
    }
  }
  const spendings = [
    spent('one.example', mint, 250_000_000n, 0.5),
    // At midnight.
    spent('one.example', dollar, 250_000n, 1),
    spent('two.example', mint, 1n, 2),
  ]
  expect(spendingReport({ policy, spendings, open: 1, nowMs })).toMatchObject({
    day: '2026-11-21',
    spentTodayUsd: '0.5',
    leftTodayUsd: '0.5',
    spentInAllUsd: '0.75',
    leftInAllUsd: '4.25',
    spentByHost: { 'one.example': '0.5', 'two.example': '0.25' },
    spentByMint: { [mint]: { name: 'TOLL', baseUnits: '250000001' }, [dollar]: { name: 'USDC', baseUnits: '250000' } },
  })
})

test('of many receipts the newest are shown, the newest first and each payment once', async () => {
  const path = join(await makeScratchDirectory(), 'receipts')
  const line = { at: '', method: 'GET', url: 'https://host/', mint, baseUnits: '1', usd: '0.01', receipt: null }
  for (const signature of ['one', 'two', 'three', 'three']) await appendReceipt(path, { ...line, signature })
  expect((await readReceipts(path, 2)).map(({ signature }) => signature)).toEqual(['three', 'two'])
})
