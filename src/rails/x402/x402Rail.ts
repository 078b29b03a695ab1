import { bindSecret } from '@tollbook/core/binding'
import { isRefusal, type Refusal } from '@tollbook/core/refusal'
import type { ChainReader } from '../../payment/chainReader.ts'
import type { PaymentTerms, Settlement } from '../../payment/settlement.ts'
import type { PaymentRail, SettleQuestion } from '../../paywall/rail.ts'
import { createFirstPresentations, type FirstPresentationDeps } from '../native/firstPresentation.ts'
import { settlePayment, type SettleDeps } from '../native/settlePayment.ts'
import { challenge, mount, paymentRequired } from './challenge.ts'
import { priceOfList } from './priceOfList.ts'
import { type ReadDeps, readPayment, type X402Proof } from './readPayment.ts'
import { encodeHeader, paymentHeader, requiredHeader, responseHeader } from './wire.ts'
import { x402ErrorOf } from './x402Refusal.ts'

export interface X402RailDeps
  extends
    Omit<ReadDeps, 'chain'>,
    Omit<SettleDeps, 'first' | 'choosePrice' | 'ledger' | 'currentPrice'>,
    Omit<FirstPresentationDeps, 'chain'> {
  readonly ledger: ReadDeps['ledger'] & SettleDeps['ledger']
}

/**
 * x402 version 2, scheme `exact` on Solana, flow `upfront`. The client signs a transfer of the whole price, the fee payer
 * signs as well, and we send it. It is settled by the same steps as a transaction of the native rail; its burn is owed.
 */
export function createX402Rail(given: X402RailDeps): PaymentRail<X402Proof> {
  const first = createFirstPresentations(given)
  const deps = { ...given, first }
  return {
    name: 'x402',
    mount,
    network: deps.network,
    secretHeaders: [paymentHeader],
    // The stock client sends the other name as a request header.
    requestHeaders: [paymentHeader, 'access-control-expose-headers'],
    responseHeaders: [requiredHeader, responseHeader],
    carriesProof: (request) => request.header(paymentHeader) !== undefined,
    identify(request) {
      const isMarked = request.mount === mount || request.header(paymentHeader) !== undefined
      return isMarked ? { payer: undefined } : undefined
    },
    challenge: (offer) => challenge(deps, offer),
    async read(request, { path }) {
      const presented = await readPayment(deps, {
        header: request.header(paymentHeader) ?? '',
        path,
        takeLookup: () => request.takeLookup(),
      })
      if (!isRefusal(presented)) first.note({ reference: presented.proof.reference, wallet: presented.payer })
      return presented
    },
    checkHolder(proof, { memo }) {
      const binding = bindSecret(memo === undefined ? [] : [memo], proof.secret)
      return isRefusal(binding) ? binding : undefined
    },
    settle: (question) => settle(deps, question),
    respond: ({ signature, wallet }) => ({
      [responseHeader]: encodeHeader({ success: true, transaction: signature, network: deps.network, payer: wallet }),
    }),
    async explain(refusal, offer) {
      const errorReason = x402ErrorOf(refusal)
      // Anything but a refusal for good would be answered with a second payment.
      if (!isForGood(refusal)) return {}
      const failure = { success: false, errorReason, transaction: '', network: deps.network }
      const required = await paymentRequired(deps, offer, errorReason)
      return { ...required, [responseHeader]: encodeHeader(failure) }
    },
  }
}

function isForGood({ code, retryAfterSeconds }: Refusal): boolean {
  return (code === 'INVALID_PAYMENT' || code === 'INSUFFICIENT_BALANCE') && retryAfterSeconds === undefined
}

interface SettlingDeps extends X402RailDeps {
  readonly first: SettleDeps['first']
}

function settle(deps: SettlingDeps, question: SettleQuestion<X402Proof>): Promise<Settlement | Refusal> {
  const { priceList, rehearsed } = question.proof
  return settlePayment(
    {
      ...deps,
      chain: rehearsed === undefined ? deps.chain : rehearsedChain(deps.chain, rehearsed),
      terms: owingBurn(deps.terms),
      acceptedTerms: (landedAtMs) => (deps.acceptedTerms?.(landedAtMs) ?? []).map(owingBurn),
      choosePrice: (price) => priceOfList(deps, priceList, price),
    },
    question,
  )
}

function owingBurn(terms: PaymentTerms): PaymentTerms {
  return { ...terms, burnMayBeOwed: true }
}

/** The transaction was rehearsed before the fee payer signed, and its signature changes no effect. */
function rehearsedChain(chain: ChainReader, rehearsed: NonNullable<X402Proof['rehearsed']>): ChainReader {
  return { ...chain, simulate: () => Promise.resolve(rehearsed) }
}
