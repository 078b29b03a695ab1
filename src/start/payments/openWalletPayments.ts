import { buildPaymentTransaction } from '../../chain/paymentTransaction.ts'
import type { Chain } from '../../chain/openChain.ts'
import type { WalletPort } from '../../http/payRoutes.ts'
import { shareReading } from '../../http/shareReading.ts'
import type { PaymentLedger } from '../../payment/paymentLedger.ts'
import type { Paywall } from '../../paywall/paywall.ts'
import type { SplitShare } from '../../pricing/splitSetting.ts'
import { createWalletPayments } from '../../rails/native/walletPayment.ts'
import type { PartDeps } from '../partDeps.ts'

export interface WalletPaymentParts extends Pick<PartDeps, 'clock'> {
  readonly ledger: PaymentLedger
  readonly chain: Pick<Chain, 'reader' | 'finality' | 'terms' | 'latestBlockhash'>
  readonly paywall: Paywall
  readonly slot: () => number
  readonly split: readonly SplitShare[]
  readonly fundWallet: WalletPort['fund']
}

// A blockhash is good for 60 s or more, so one serves all buyers of some seconds.
const blockhashAgeMaxMs = 3_000

export function openWalletPayments(parts: WalletPaymentParts): WalletPort {
  const { clock, chain, fundWallet } = parts
  const { reader, finality, terms, latestBlockhash } = chain
  const read = async () => (await latestBlockhash()).blockhash
  const payments = createWalletPayments({
    ...parts,
    chain: reader,
    finality,
    terms,
    blockhash: shareReading({ clock, ageMaxMs: blockhashAgeMaxMs, read }),
    buildTransaction: buildPaymentTransaction,
  })
  return { ...payments, ...(fundWallet === undefined ? {} : { fund: fundWallet }) }
}
