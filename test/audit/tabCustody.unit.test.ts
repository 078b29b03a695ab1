import { expect, test } from 'vitest'
import type { ChainNode } from '../../packages/audit/src/chainNode.ts'
import { judgeTabCustody, type TabCustodyDeps } from '../../packages/audit/src/tabCustody.ts'
import { associatedTokenAccount } from '../../packages/audit/src/tokenAccountAddress.ts'
import { WalletAccounts } from '../../packages/audit/src/walletAccounts.ts'
import { sampleAddress } from '../store/samplePayment.ts'

const mint = 'mint'
const [former, current] = ['former wallet', 'current wallet']

/** Tabs with 100 base units, and what the former and the current wallet for tabs hold. */
async function judge(held: readonly [former: bigint, current: bigint]) {
  const found: string[] = []
  const balances = new Map([former, current].map((wallet, index) => [wallet, held[index] ?? 0n]))
  const account = { mint, account: 'Liabilities:Prepaid:tab', balanceBaseUnits: -100n }
  const inDollars = { ...account, mint: 'a dollar' }
  const deps = {
    node: { balanceOf: (wallet: string) => Promise.resolve(balances.get(wallet) ?? 0n) },
    accounts: {
      of: (_mint: string, wallets: readonly string[]) =>
        Promise.resolve(wallets.map((wallet) => ({ tokenAccount: wallet }))),
    },
    replay: {
      findings: { add: (kind: string) => void found.push(kind) },
      periods: { of: () => [{ text: former }, { text: current }] },
      postings: { mints: () => [mint], accounts: () => [account, inDollars] },
    },
  }
  // The whole classes are more than what is asked here.
  await judgeTabCustody(deps as unknown as TabCustodyDeps)
  return found
}

test('what is on tabs is in all wallets for tabs together, the former ones too', async () => {
  expect(await judge([60n, 40n])).toEqual([])
  expect(await judge([60n, 39n])).toEqual(['tabs_not_covered'])
})

test('a wallet has another token account in each mint', async () => {
  const [wallet, tokenProgram, ...mints] = [sampleAddress(), sampleAddress(), sampleAddress(), sampleAddress()]
  // Nothing else of a node is asked here.
  const accounts = new WalletAccounts({ tokenProgramOf: () => Promise.resolve(tokenProgram) } as unknown as ChainNode)
  for (const of of mints) {
    const tokenAccount = associatedTokenAccount({ wallet, tokenProgram, mint: of })
    expect(await accounts.of(of, [wallet])).toEqual([{ wallet, tokenAccount }])
  }
})
