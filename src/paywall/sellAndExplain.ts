import type { Product } from '../product/product.ts'
import { type Answer, bodyOf, isAnswer, type StreamedAnswer } from './answer.ts'
import { mayPayAgain } from '../payment/newPayment.ts'
import { openOffer } from './issueOffer.ts'
import type { PaidRequest } from './paidRequest.ts'
import { type Paywall, sell } from './paywall.ts'

/**
 * Sells, and adds to a refused proof what its rail has to say about it. A client of that rail then reads the refusal without
 * knowing our bodies.
 */
export async function sellAndExplain(
  deps: Paywall,
  product: Product,
  request: PaidRequest,
): Promise<Answer | StreamedAnswer> {
  // The explanation repeats the offer, and the parameters decide which price that is.
  let endpoint = product.path
  const answer = await sell(deps, product, {
    ...request,
    async readParameters() {
      const ordered = await request.readParameters()
      if (!isAnswer(ordered)) endpoint = ordered.endpoint
      return ordered
    },
  })
  if ('chunks' in answer || answer.refusal === undefined) return answer
  const rail = deps.rails.find((each) => each.carriesProof(request))
  if (rail?.explain === undefined) return answer
  const price = mayPayAgain(answer.refusal, answer.payment) ? deps.currentPrice(endpoint) : undefined
  const offer = price === undefined ? undefined : openOffer(deps, { request, product, payer: undefined, price })
  const { headers, members } = await rail.explain(answer.refusal, { request, offer })
  const body = members === undefined ? answer.body : JSON.stringify({ ...bodyOf(answer.refusal), ...members })
  return { ...answer, body, headers: { ...answer.headers, ...headers } }
}
