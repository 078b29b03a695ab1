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
 * Checks in each mint that the wallets for tabs together have at least the prepaid balance of all tabs. Returns a
 * message for each mint in which they have it. Refunds of tabs are ignored: a refund that was paid but is not recorded
 * yet would be a false finding. The ledger is read before the chain, so a deposit in between only raises the balance.
 */
export async function judgeTabCustody({ node, replay, accounts }: TabCustodyDeps): Promise<readonly string[]> {
  const { findings, postings, periods } = replay
  const compared: string[] = []
  // Add the balances of all wallets, because after a change of the wallet, earlier deposits stay in the old one until
  // the operator moves them.
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
