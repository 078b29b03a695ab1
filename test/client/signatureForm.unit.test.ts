import { expect, test } from 'vitest'
import { PaymentNotSent, PaymentRefused, PaymentUnresolved } from '@tollbook/client/paymentError'
import { openScene, rejectionOf, type Scene } from './support/payerScene.ts'
import { readPresentedProof } from './support/presentedProof.ts'
import { finalTip, lastValidBlockHeight, type NodeAnswer, statusAnswer } from './support/scriptedNode.ts'

const crypto = '/api/data/crypto?symbol=BTC'

/** Answers one after the other; the last one repeats without limit. */
function inTurn(...answers: NodeAnswer[]): () => NodeAnswer {
  let next = 0
  return () => answers[Math.min(next++, answers.length - 1)] ?? 'broken'
}

const broken = 'broken'
const [notFound, processed, confirmed, failed] = (['not_found', 'processed', 'confirmed', 'failed'] as const).map(
  (status) => statusAnswer(status),
)
const always = (answer: NodeAnswer | undefined) => inTurn(answer ?? broken)

function openSignatureScene(): Promise<Scene> {
  return openScene({ form: 'signature' })
}

test('the payer sends the payment itself and presents its signature once it is confirmed', async () => {
  const { payingFetch, service, wallet, url } = await openSignatureScene()
  const presentedAt: number[] = []
  const statuses = inTurn(notFound ?? broken, processed ?? broken, confirmed ?? broken)
  service.node.answers['getSignatureStatuses'] = () => {
    presentedAt.push(service.presented.length)
    return statuses()
  }
  const response = await payingFetch(url(crypto))
  expect(response.status).toBe(200)
  expect(presentedAt).toEqual([0, 0, 0])
  const [sent] = service.node.sent
  const proof = readPresentedProof(String(service.presented[0]?.headers['x-payment-proof']))
  expect(proof.transaction).toBeUndefined()
  expect(proof.signature).toBe(readPresentedProof(sent ?? '').signature)
  expect([new Set(service.node.sent).size, wallet.signed]).toEqual([1, 1])
})

test('a transaction that the node does not take has paid nothing and is not presented', async () => {
  const { payingFetch, service, url } = await openSignatureScene()
  service.node.answers['sendTransaction'] = () => ({ error: { code: -32002, message: 'insufficient funds' } })
  const error = await rejectionOf(payingFetch(url(crypto)))
  expect(error).toBeInstanceOf(PaymentNotSent)
  expect(String(error)).toContain('insufficient funds')
  expect(service.presented).toHaveLength(0)
})

const lostSendings: Record<string, NodeAnswer> = {
  'whose answer is lost': broken,
  'that meets a node in trouble': { error: { code: -32005, message: 'node is behind' } },
  'that a proxy has sent twice': {
    error: { code: -32002, message: 'it has already been processed', data: { err: 'AlreadyProcessed' } },
  },
}

for (const [name, answer] of Object.entries(lostSendings)) {
  test(`a sending ${name} is repeated with the same bytes until the chain knows the payment`, async () => {
    const { payingFetch, service, wallet, url } = await openSignatureScene()
    service.node.answers['sendTransaction'] = inTurn(answer, answer, { result: 'sent' })
    const waits = Array.from({ length: 12 }, () => notFound ?? broken)
    service.node.answers['getSignatureStatuses'] = inTurn(...waits, broken, confirmed ?? broken)
    expect((await payingFetch(url(crypto))).status).toBe(200)
    expect(service.node.sent.length).toBeGreaterThan(2)
    expect([new Set(service.node.sent).size, wallet.signed]).toEqual([1, 1])
  })
}

test('a payment that failed on chain is refused with its signature and never presented', async () => {
  const { payingFetch, service, url } = await openSignatureScene()
  service.node.answers['getSignatureStatuses'] = always(failed)
  const error = await rejectionOf(payingFetch(url(crypto)))
  if (!(error instanceof PaymentRefused)) throw error
  expect(error.reason).toBe('transaction_failed')
  expect(error.payment.signature).toBe(readPresentedProof(service.node.sent[0] ?? '').signature)
  expect(service.presented).toHaveLength(0)
})

test('a payment is given up only when the final height is past its last block and it is still not there', async () => {
  const { payingFetch, service, url } = await openSignatureScene()
  service.node.answers['getSignatureStatuses'] = always(notFound)
  service.node.answers['getEpochInfo'] = inTurn(
    finalTip(lastValidBlockHeight),
    broken,
    finalTip(lastValidBlockHeight + 1),
  )
  const error = await rejectionOf(payingFetch(url(crypto)))
  if (!(error instanceof PaymentRefused)) throw error
  expect(error.reason).toBe('blockhash_expired')
  // The last one gives its amount back to the limits.
  expect(service.node.calls.filter((method) => method === 'getEpochInfo')).toHaveLength(4)
})

test('a payment that lands in its last block is found, although the height is past it', async () => {
  const { payingFetch, service, url } = await openSignatureScene()
  service.node.answers['getEpochInfo'] = always(finalTip(lastValidBlockHeight + 1))
  const waits = Array.from({ length: 8 }, () => notFound ?? broken)
  service.node.answers['getSignatureStatuses'] = inTurn(...waits, confirmed ?? broken)
  expect((await payingFetch(url(crypto))).status).toBe(200)
})

test('a payment is not given up for a node that is behind the final height, because it may have landed since', async () => {
  const { payingFetch, service, url } = await openSignatureScene()
  service.node.answers['getEpochInfo'] = always(finalTip(lastValidBlockHeight + 1))
  const waits = Array.from({ length: 12 }, () => statusAnswer('not_found', 1))
  service.node.answers['getSignatureStatuses'] = inTurn(...waits, confirmed ?? broken)
  expect((await payingFetch(url(crypto))).status).toBe(200)
})

test('while the node does not answer the outcome is open, and resuming sends the same bytes again', async () => {
  const { payingFetch, service, wallet, url } = await openSignatureScene()
  service.node.answers['getSignatureStatuses'] = always(broken)
  const error = await rejectionOf(payingFetch(url(crypto)))
  if (!(error instanceof PaymentUnresolved)) throw error
  expect(service.presented).toHaveLength(0)
  service.node.answers['getSignatureStatuses'] = inTurn(notFound ?? broken, confirmed ?? broken)
  expect((await payingFetch.resume(error.payment)).status).toBe(200)
  expect([new Set(service.node.sent).size, wallet.signed]).toEqual([1, 1])
})

test('a service whose node knows the lower balance and not yet the payment is asked again', async () => {
  const { payingFetch, service, wallet, url } = await openSignatureScene()
  service.script = [{ status: 402, body: { error: 'the wallet holds 0', code: 'INSUFFICIENT_BALANCE' } }]
  expect((await payingFetch(url(crypto))).status).toBe(200)
  expect([service.presented.length, wallet.signed]).toEqual([2, 1])
})
