import type { Json } from '@tollbook/core/canonicalJson'
import { isRefusal, type Refusal, refuse } from '@tollbook/core/refusal'
import type { PaymentState } from '../../payment/payment.ts'
import type { PaymentRail } from '../../paywall/rail.ts'
import { checkSecret } from '../solana/checkSecret.ts'
import { readWallet, walletHeader } from './readWallet.ts'
import { type QuoteDeps, challenge } from './challenge.ts'
import { choosePrice, type PriceDeps, recallPrice } from '../solana/choosePrice.ts'
import { createKnownPayers } from '../solana/knownPayers.ts'
import type { SolanaProof } from '../solana/solanaProof.ts'
import { proofHeader, readProof } from './readProof.ts'
import { settlePayment, type SettleDeps, type SettleLimits } from '../solana/settlePayment.ts'

export interface NativeRailDeps
  extends
    Omit<QuoteDeps, 'ledger'>,
    Omit<SettleDeps, 'knownPayers' | 'choosePrice' | 'ledger'>,
    Omit<PriceDeps, keyof NativeLimits> {}

export interface NativeLimits extends SettleLimits, Pick<PriceDeps, 'quoteGraceMs'> {}

/**
 * Creates the rail of the specification, section 5. `x-wallet-address` is the payer. `x-payment-proof` has or names a
 * transaction that burns one share of the price and transfers the rest. The rail must be last in the list, because it
 * refuses a request without a wallet.
 */
export function createNativeRail(limits: NativeLimits, given: NativeRailDeps): PaymentRail<SolanaProof> {
  const { first, ledger, currentPrice } = given
  const pricing = { ledger, currentPrice, quoteGraceMs: limits.quoteGraceMs }
  const prices = {
    choosePrice: choosePrice.bind(undefined, pricing),
    recallPrice: recallPrice.bind(undefined, pricing),
  }
  const knownPayers = createKnownPayers(given.terms.mint, () => given.clock.monotonicMs())
  const deps = { ...given, knownPayers, ...prices }
  return {
    name: 'native',
    meta: {
      headersOf: (meta) => ({
        ...headerOf(walletHeader, meta['tollbook/wallet']),
        ...headerOf(proofHeader, meta['tollbook/payment-proof']),
      }),
      // Return nothing, because the receipt in the result is complete.
      receiptOf: () => ({}),
    },
    secretHeaders: [proofHeader],
    requestHeaders: [walletHeader, proofHeader],
    responseHeaders: [],
    carriesProof: (request) => request.header(proofHeader) !== undefined,
    identify(request) {
      const wallet = readWallet(request, deps.terms)
      return isRefusal(wallet) ? wallet : { payer: wallet }
    },
    challenge: (offer) => challenge(deps, offer),
    read(request) {
      const wallet = readWallet(request, deps.terms)
      if (isRefusal(wallet)) return wallet
      const proof = readProof(request.header(proofHeader) ?? '', deps.chain)
      if (isRefusal(proof)) return proof
      first.note({ reference: proof.reference, wallet })
      return { payer: wallet, proof }
    },
    checkHolder: checkSecret,
    async settle(question) {
      const { payment } = question
      const verdict = refuseOfOtherRail(payment)
      return verdict === undefined ? await settlePayment(deps, limits, question) : { verdict, payment }
    },
    // The receipt in the body is complete, so this rail adds no headers.
    respond: () => ({}),
  }
}

function headerOf(name: string, value: Json | undefined): Readonly<Record<string, string>> {
  return typeof value === 'string' && value.trim() !== '' ? { [name]: value.trim() } : {}
}

/** Refuses a sponsored payment that is not verified yet, because only its own rail can verify it. */
function refuseOfOtherRail(payment: PaymentState): Refusal | undefined {
  if (payment.phase !== 'submitted' || payment.offer === undefined) return undefined
  const { rail } = payment.offer
  return refuse(
    'PAYMENT_IN_PROGRESS',
    `this payment was made by ${rail} and is not confirmed yet; present it by ${rail}, or here again once it is confirmed; do not pay again`,
    2,
  )
}
