import { type Address, readAddress } from '@tollbook/core/address'
import { systemProgram, memoPrograms, tokenPrograms, associatedTokenProgram } from '@tollbook/core/programs'
import { type Refusal, refuse, refuseField } from '@tollbook/core/refusal'
import type { PaymentTerms } from '../../payment/settlement.ts'
import type { RailRequest } from '../../paywall/rail.ts'

export const walletHeader = 'x-wallet-address'

export type WalletTerms = Pick<PaymentTerms, 'mint' | 'paymentWallet'>

/**
 * Reads the wallet of the request. The address is unverified and gives no access by itself. It may be off the curve,
 * because smart wallets have such addresses.
 */
export function readWallet(request: RailRequest, terms: WalletTerms): Address | Refusal {
  const text = request.header(walletHeader)
  if (text === undefined) {
    return refuse('NO_WALLET', `${walletHeader} is missing: send the Solana address of the wallet that pays`)
  }
  return checkWallet(text, { field: walletHeader, terms })
}

interface WalletField {
  readonly field: string
  readonly terms: WalletTerms
}

export function checkWallet(text: string, { field, terms }: WalletField): Address | Refusal {
  const wallet = readAddress(text)
  if (wallet === undefined)
    return refuseField(field, 'must be a Solana address: base58 of 32 bytes, 32 to 44 characters')
  if (isProgram(wallet)) return refuseField(field, 'is a program; send the address of the wallet that pays')
  if (wallet === terms.mint) return refuseField(field, 'is the token mint; send the address of the wallet that pays')
  if (wallet === terms.paymentWallet) return refuseField(field, 'is the payment wallet, which cannot pay itself')
  return wallet
}

/** True for known programs. A program cannot sign for its own address, so a payment by it could never be proven. */
function isProgram(address: Address): boolean {
  return (
    tokenPrograms.has(address) ||
    memoPrograms.has(address) ||
    address === systemProgram ||
    address === associatedTokenProgram
  )
}
