import { pathOf } from '@tollbook/core/endpointName'
import type { PaymentRail, Proof } from '../../paywall/rail.ts'

/**
 * Combines two rails of one protocol: payments for deposits go to the wallet for tabs, and all other payments go to the
 * payment wallet. The order decides which rail settles, so a payment to the other wallet buys nothing.
 */
export function withDeposits<P extends Proof>(
  goods: PaymentRail<P>,
  deposits: PaymentRail<P>,
  depositPath: string,
): PaymentRail<P> {
  const of = (endpoint: string) => (pathOf(endpoint) === depositPath ? deposits : goods)
  const { resume, explain } = goods
  return {
    ...goods,
    challenge: (offer) => of(offer.product.path).challenge(offer),
    settle: (question) => of(question.order.endpoint).settle(question),
    ...(resume === undefined
      ? {}
      : { resume: async (question, message) => of(question.order.endpoint).resume?.(question, message) }),
    ...(explain === undefined
      ? {}
      : {
          explain: async (refusal, refused) =>
            (of(refused.offer?.product.path ?? '').explain ?? explain)(refusal, refused),
        }),
  }
}
