import { classOf } from './accountClass.ts'
import type { ChainNode } from './chainNode.ts'
import type { Replay } from './replay.ts'
import type { WalletAccounts } from './walletAccounts.ts'

export interface TabCustodyDeps {
  readonly node: Pick<ChainNode, 'balanceOf'>
  readonly replay: Pick<Replay, 'findings' | 'postings' | 'periods'>
  readonly accounts: Pick<WalletAccounts, 'of'>
}

/**
 * Checks that the wallet for tabs holds what is on tabs, and returns what was compared. Refunds are left out: one that
 * was paid and is not recorded yet would be a false finding. The ledger was read before the chain, and only a tab that
 * was closed and paid out in between lowers the balance.
 */
export async function judgeTabCustody({ node, replay, accounts }: TabCustodyDeps): Promise<readonly string[]> {
  const { findings, postings, periods } = replay
  const compared: string[] = []
  // Until the operator has moved them, deposits of before a change are in the wallet of that time.
  const wallets = [...new Set(periods.of('tab-wallet').map(({ text }) => text))]
  for (const mint of postings.mints()) {
    const prepaidBaseUnits = prepaidOf(postings, mint)
    if (prepaidBaseUnits <= 0n) continue
    let heldBaseUnits = 0n
    for (const { tokenAccount } of wallets.length === 0 ? [] : await accounts.of(mint, wallets))
      heldBaseUnits += await node.balanceOf(tokenAccount)
    const message = `the wallet for tabs holds ${heldBaseUnits} base units of ${mint}, and ${prepaidBaseUnits} are on tabs`
    if (heldBaseUnits < prepaidBaseUnits)
      findings.add('tabs_not_covered', { position: undefined, subject: wallets.at(-1) ?? 'tab-wallet', message })
    else compared.push(message)
  }
  return compared
}

function prepaidOf(postings: Replay['postings'], mint: string): bigint {
  let sum = 0n
  for (const totals of postings.accounts())
    if (totals.mint === mint && classOf(totals.account)?.class === 'prepaid') sum -= totals.balanceBaseUnits
  return sum
}
