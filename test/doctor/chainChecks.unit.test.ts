import { expect, test } from 'vitest'
import type { Chain } from '../../src/chain/openChain.ts'
import type { NodeStanding } from '../../src/chain/nodeStanding.ts'
import { chainChecks } from '../../src/doctor/chainChecks.ts'
import { type CheckFinding, runChecks } from '../../src/doctor/check.ts'
import { sampleAddress, sampleMint } from '../store/samplePayment.ts'

const [wallet, account, dollarAccount, otherAccount] = [
  sampleAddress(),
  sampleAddress(),
  sampleAddress(),
  sampleAddress(),
]
const terms = { mint: sampleMint, decimals: 6, paymentWallet: wallet, paymentTokenAccount: account, network: 'n' }
const dollarOf = (symbol: string, paymentTokenAccount: typeof account) => ({
  symbol,
  terms: { ...terms, paymentTokenAccount },
})
const node = (name: string, problem?: string): NodeStanding => ({
  name,
  slot: 7,
  lagSlots: 0,
  isSilent: false,
  problem,
})

interface Facts {
  readonly accounts?: ReadonlyMap<string, boolean>
  readonly nodes?: readonly NodeStanding[]
  readonly skewMs?: number
}

/** A chain with these token accounts, of which some are frozen. */
async function findingsOf({ accounts = new Map(), nodes = [node('a'), node('b')], skewMs = 1 }: Facts) {
  const chain = {
    terms,
    dollars: [dollarOf('USDC', dollarAccount), dollarOf('XUSD', otherAccount)],
    clockSkewMaxMs: 1_000,
    nodes: { standings: () => nodes, time: { skewMs: () => skewMs } },
    readAccounts: ({ addresses }: { readonly addresses: readonly string[] }) =>
      Promise.resolve(
        addresses.map((address) => {
          const isFrozen = accounts.get(address)
          return isFrozen === undefined ? undefined : { token: { isFrozen } }
        }),
      ),
  }
  const findings = new Map<string, CheckFinding>()
  // The checks read only these members of the chain.
  const checks = chainChecks(() => Promise.resolve(chain as unknown as Chain))
  await runChecks(checks, (finding) => void findings.set(finding.check, finding))
  return findings
}

test('the token account may be missing before the first payment, and must not be frozen', async () => {
  expect((await findingsOf({})).get('mint and payment wallet')?.verdict).toBe('ok')
  expect((await findingsOf({ accounts: new Map([[account, true]]) })).get('mint and payment wallet')).toMatchObject({
    verdict: 'failed',
    fix: 'ask the issuer, or change PAYMENT_WALLET',
  })
})

test.each([
  ['ok', [false, false], `payments go in USDC to ${wallet}, XUSD to ${wallet}`],
  ['failed', [false, undefined], `there is no token account for XUSD of ${wallet}`],
  ['failed', [true, false], `the token account for USDC of ${wallet} is frozen`],
  ['failed', [undefined, true], `there is no token account for USDC of ${wallet}`],
] as const)('dollars are %s with accounts %j', async (verdict, frozen, detail) => {
  const accounts = new Map<string, boolean>()
  for (const [index, isFrozen] of frozen.entries())
    if (isFrozen !== undefined) accounts.set(index === 0 ? dollarAccount : otherAccount, isFrozen)
  expect((await findingsOf({ accounts })).get('dollars')).toMatchObject({ verdict, detail })
})

test.each([
  ['ok', [node('a'), node('b')], 'a at slot 7, b at slot 7'],
  ['warning', [node('a')], 'a at slot 7, the only node: while it is wrong, no payment can be judged'],
  ['warning', [node('a'), node('b', 'lags')], 'b lags'],
  ['failed', [node('a', 'is silent'), node('b', 'lags')], 'a is silent; b lags'],
])('nodes are %s', async (verdict, nodes, detail) => {
  expect((await findingsOf({ nodes })).get('nodes')).toMatchObject({ verdict, detail })
})

test.each([
  [0, 'skipped'],
  [1_000, 'ok'],
  [-1_001, 'failed'],
  [1_001, 'failed'],
])('a clock that is %i ms ahead of the chain is %s', async (skewMs, verdict) => {
  expect((await findingsOf({ skewMs })).get('chain clock')?.verdict).toBe(verdict)
})

test('a chain that cannot be opened fails each check, and the reason is not lost', async () => {
  const findings: CheckFinding[] = []
  const checks = chainChecks(() => Promise.reject(new Error('no node of SOLANA_RPC_URLS answers')))
  await runChecks(checks, (finding) => void findings.push(finding))
  expect(findings.map(({ verdict, detail }) => `${verdict} ${detail}`)).toEqual(
    Array(4).fill('failed no node of SOLANA_RPC_URLS answers'),
  )
})
