import type { Address } from '@tollbook/core/address'
import type { PayerFunds } from '../payment/payerFunds.ts'
import type { Chain } from './openChain.ts'
import { tokenAccountOf } from './walletTerms.ts'

/**
 * Reads what the wallet can pay. A token account that is frozen or belongs to another wallet counts as empty. The
 * service reads the funds before it requests the wallet's signature.
 */
export async function readPayerFunds(
  { readAccounts, terms }: Pick<Chain, 'readAccounts' | 'terms'>,
  wallet: Address,
): Promise<PayerFunds> {
  const addresses = [tokenAccountOf(terms, wallet), wallet]
  const [account, owner] = await readAccounts({ addresses, commitment: 'confirmed', minSlot: 0 })
  const token = account?.token
  const isUsable = token?.owner === wallet && !token.isFrozen
  return { baseUnits: isUsable ? token.baseUnits : 0n, lamports: owner?.lamports ?? 0n }
}
