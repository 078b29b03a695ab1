import { assertPresent } from '@tollbook/core/assert'
import type { Address } from '@tollbook/core/address'
import { type QuoteBody, quoteBody } from '@tollbook/core/wire'
import { z } from 'zod'
import type { CheckedOrder, Outcome, Product } from '../../src/product/product.ts'
import { orderDigest } from '../../src/paywall/lookUpPayment.ts'
import type { PaidRequest } from '../../src/paywall/paidRequest.ts'
import { createSales } from '../../src/paywall/sales.ts'
import { countFault, isFinalRefusal, type Presentation, type Reply } from './history.ts'
import { address, newAddress, newPayer, type SimulatedTransaction } from './simulatedChain.ts'
import { never, products, type RunningInstance, type World } from './world.ts'

/*
 * Callers of the service: they ask for a price, pay it in one of the four forms, and present the proof until they know.
 */

interface Purchase {
  readonly product: Product
  readonly wallet: Address
  readonly transaction: SimulatedTransaction
  readonly proof: string
  readonly idempotencyKey: string | undefined
}

/** Starts a caller at a random moment of the disturbed part of the run. */
export function startCaller(world: World, number: number): void {
  const { time, chance, history } = world
  const buying = async () => {
    await time.wait(chance.number(90_000))
    await buy(world, number)
  }
  buying().catch((error: unknown) => history.violations.push(`a caller broke: ${describe(error)}`))
}

function describe(error: unknown): string {
  return error instanceof Error ? `${error.message} ${error.stack ?? ''}` : String(error)
}

const wordMax = 3

async function buy(world: World, number: number): Promise<void> {
  const { chance, chain, time } = world
  const payer = newPayer(chance)
  const wallet = address(payer.publicKey)
  const path = chance.pick(products)
  const product: Product = { path, method: 'GET' }
  const { quote } = await askForQuote(world, { product, wallet })
  const [burn, transfer] = [BigInt(quote.burnBaseUnits), BigInt(quote.transferBaseUnits)]
  const isBound = chance.happens(0.5)
  const isSent = chance.happens(0.5)
  const transaction = chain.sign(payer, {
    burnBaseUnits: burn,
    transferBaseUnits: transfer + (chance.happens(0.2) ? 7n : 0n),
    memo: isBound ? quote.memo : undefined,
    fails: chance.happens(0.1),
  })
  const purchase: Purchase = {
    product,
    wallet,
    transaction,
    proof: proofOf(transaction, { isSent, secret: isBound ? quote.secret : undefined }),
    idempotencyKey: chance.happens(0.3) ? `key-${number}` : undefined,
  }
  if (isSent) {
    chain.send(transaction.signature)
    // A wallet sends again until it is confirmed.
    for (const afterMs of [3_000, 9_000, 20_000]) time.after(afterMs, () => chain.send(transaction.signature))
    await time.wait(chance.number(6_000))
    // Some wallets pay and present nothing: the search for transfers finds what they sent.
    if (chance.happens(0.2)) return
  }
  const crowd = chance.happens(0.05) ? world.crowd : chance.pick([1, 1, 1, 2, 3])
  if (chance.happens(0.3)) startThief(world, purchase)
  const words = chance.happens(0.3) ? wordMax : 1
  await Promise.all(
    Array.from({ length: crowd }, () => presentUntilKnown(world, purchase, { words, isCrowd: crowd > wordMax })),
  )
}

function proofOf(
  { signature, bytes: transactionBytes }: SimulatedTransaction,
  { isSent, secret }: { readonly isSent: boolean; readonly secret: string | undefined },
): string {
  const bytes = Buffer.from(transactionBytes)
  const bare = isSent ? Buffer.from(signature, 'latin1') : bytes
  if (secret === undefined) return bare.toString('base64')
  const bound = isSent ? { signature, secret } : { transaction: bytes.toString('base64'), secret }
  return Buffer.from(JSON.stringify(bound), 'utf8').toString('base64')
}

async function askForQuote(
  world: World,
  ordered: { readonly product: Product; readonly wallet: Address },
): Promise<QuoteBody> {
  for (;;) {
    const sent = await send(world, { ...ordered, word: 1, proof: undefined, idempotencyKey: undefined, run: undefined })
    if (sent !== undefined && sent.status === 402) return quoteBody.parse(JSON.parse(sent.body))
    await world.time.wait(1_000)
  }
}

interface Manner {
  /** Number of different orders that are sent with one proof. */
  readonly words: number
  readonly isCrowd: boolean
}

/** Repeats the proof until there is an answer or a final refusal, and sometimes once more. */
async function presentUntilKnown(world: World, purchase: Purchase, { words, isCrowd }: Manner): Promise<void> {
  const { chance, time } = world
  let repeatsLeft = isCrowd ? 0 : chance.pick([0, 0, 1, 3])
  let patienceMs = 2_000
  for (;;) {
    const reply = await present(world, purchase, { word: chance.between(1, words), isHonest: true })
    const isKnown = reply !== undefined && reply.isReceived && (reply.status === 200 || isFinalRefusal(reply))
    if (isKnown && repeatsLeft === 0) return
    if (isKnown) repeatsLeft--
    // Callers get slower: the refund of the service comes after a day.
    patienceMs = Math.min(patienceMs * 1.5, 6 * 3_600_000)
    await time.wait(chance.between(100, Math.ceil(patienceMs)))
  }
}

/** A thief who has seen the transaction on chain, and presents it as its own or as the payer's. */
function startThief(world: World, purchase: Purchase): void {
  const { time, chance } = world
  const isOwnWallet = chance.happens(0.5)
  const wallet = isOwnWallet ? newAddress(chance) : purchase.wallet
  // A plain proof belongs to each caller that names the wallet; a bound one needs the secret, which the chain does not
  // show.
  if (!isOwnWallet && purchase.transaction.memo === undefined) return
  const proof = proofOf(purchase.transaction, { isSent: true, secret: undefined })
  const stolen = { ...purchase, wallet, proof, idempotencyKey: undefined }
  const stealing = async () => {
    for (let tries = 0; tries < 5; tries++) {
      await time.wait(chance.number(8_000))
      await present(world, stolen, { word: 1, isHonest: false })
    }
  }
  void stealing()
}

async function present(
  world: World,
  purchase: Purchase,
  { word, isHonest }: { readonly word: number; readonly isHonest: boolean },
): Promise<Reply | undefined> {
  const { history, time, trace } = world
  const { product, wallet, transaction, proof, idempotencyKey } = purchase
  const presentation: Presentation = {
    signature: transaction.signature,
    wallet,
    orderDigest: orderDigest(product, { parameters: { word } }),
    isHonest,
    presentedAtMs: time.nowMs(),
  }
  history.presentations.push(presentation)
  // A key belongs to one order.
  const key = idempotencyKey === undefined ? undefined : `${idempotencyKey}-${word}`
  const sent = await send(world, { product, wallet, word, proof, idempotencyKey: key, run: presentation })
  if (sent === undefined) return undefined
  const { code, reason } = sent.status === 200 ? {} : refusalBody.parse(JSON.parse(sent.body))
  const reply: Reply = { ...presentation, ...sent, repliedAtMs: time.nowMs(), code, reason }
  trace(
    () =>
      `${short(transaction.signature)} ${isHonest ? '' : '(stolen) '}word ${word}: ${sent.status} ${code ?? ''} ${reason ?? ''}${sent.isReceived ? '' : ' (lost)'}`,
  )
  history.replies.push(reply)
  return reply
}

const refusalBody = z.object({ code: z.string(), reason: z.string().optional() })

function short(signature: string): string {
  return signature.slice(0, 6)
}

interface Sent {
  readonly status: number
  readonly body: string
  readonly isReceived: boolean
  readonly isStream: boolean
}

interface Wanted {
  readonly product: Product
  readonly wallet: Address
  readonly word: number
  readonly proof: string | undefined
  readonly idempotencyKey: string | undefined
  readonly run: Presentation | undefined
}

/** Undefined when the instance died or broke the answer off. */
async function send(world: World, wanted: Wanted): Promise<Sent | undefined> {
  const { time, chance, instances } = world
  const instance = chance.pick([assertPresent(instances[0], 'an instance'), ...instances.slice(1)])
  await time.wait(chance.between(1, 40))
  if (!instance.isAlive()) return undefined
  return Promise.race([serve(world, instance, wanted), instance.died().then(() => undefined)])
}

async function serve(world: World, instance: RunningInstance, wanted: Wanted): Promise<Sent | undefined> {
  const { chance, history, weather, time } = world
  const { product, word } = wanted
  const headers: Readonly<Record<string, string | undefined>> = {
    'x-wallet-address': wanted.wallet,
    'x-payment-proof': wanted.proof,
    'idempotency-key': wanted.idempotencyKey,
  }
  const request: PaidRequest = {
    requestId: 'simulated',
    mount: undefined,
    method: 'POST',
    target: '/api/tools/qrcode',
    header: (name) => headers[name],
    bodyDigest: () => undefined,
    readParameters: () => Promise.resolve(orderedOf(world, product, { word, presentation: wanted.run })),
    limitQuotes: () => undefined,
    limitLookups: () => undefined,
    onClaimed: () => undefined,
  }
  // Nothing polls the nodes in the hours after the faults.
  if (world.isCalm()) await instance.parts().pollNodes()
  const sales = createSales(instance.parts().paywall)
  const answer = await sales.sell(product, request).catch((error: unknown) => {
    history.violations.push(`the paywall threw: ${describe(error)}`)
    return never()
  })
  // The process may die, or not, before the answer is with the operating system.
  await time.wait(chance.number(3))
  if (!instance.isAlive()) return undefined
  const isReceived = !chance.happens(weather().answerLost)
  if (!isReceived) countFault(history, 'answer lost')
  if ('body' in answer) {
    answer.dispatch?.markSent()
    // A repeated stream is a whole answer without an envelope.
    const isStream = typeof answer.body !== 'string'
    return { status: answer.status, body: String(answer.body), isReceived, isStream }
  }
  const chunks: Uint8Array[] = []
  let hasLeft = false
  try {
    for await (const chunk of answer.chunks) {
      chunks.push(chunk)
      await time.wait(chance.number(50))
      if (!isReceived && chance.happens(0.3)) {
        hasLeft = true
        break
      }
    }
  } catch {
    return undefined
  }
  if (hasLeft) return undefined
  answer.dispatch()?.markSent()
  return { status: answer.status, body: Buffer.concat(chunks).toString('utf8'), isReceived, isStream: true }
}

function orderedOf(
  world: World,
  { path }: Product,
  job: { readonly word: number; readonly presentation: Presentation | undefined },
): CheckedOrder {
  return {
    parameters: { word: job.word },
    endpoint: path,
    whyUnavailable: () => undefined,
    whyUndeliverable: () => undefined,
    whyNoData: () => undefined,
    deliver: ({ signal }) => deliver(world, path, { signal, signature: job.presentation?.signature }),
  }
}

const meta = { source: 'simulation', asOf: '2026-11-22T06:00:00.000Z', cached: false }

async function deliver(
  world: World,
  path: string,
  { signal, signature }: { readonly signal: AbortSignal; readonly signature: Presentation['signature'] | undefined },
): Promise<Outcome> {
  const { chance, time, history, weather, trace } = world
  const run = history.runs.length + 1
  history.runs.push({ run, signature, startedAtMs: time.nowMs() })
  trace(() => `${short(signature ?? '')} handler run ${run}`)
  if (chance.happens(weather().handlerHangs)) {
    countFault(history, 'handler hung')
    await time.wait(chance.between(8_000, 40_000))
  }
  await time.wait(chance.between(10, 3_000))
  if (path === '/api/sim/failing' || chance.happens(weather().handlerFails)) {
    countFault(history, 'handler failed')
    return { kind: 'failed', code: chance.pick(['UPSTREAM_FAILED', 'NO_DATA']), message: 'not today' }
  }
  if (path !== '/api/sim/stream') return { kind: 'delivered', data: { run }, meta }
  return { kind: 'stream', contentType: 'text/plain', meta, chunks: chunksOf(world, run, signal) }
}

async function* chunksOf({ chance, time, history, weather }: World, run: number, signal: AbortSignal) {
  const count = chance.between(1, 6)
  for (let part = 1; part <= count; part++) {
    await time.wait(chance.between(5, 500))
    if (signal.aborted) throw new Error('the provider was stopped')
    if (chance.happens(weather().streamBreaks / count)) {
      countFault(history, 'stream broke')
      throw new Error('the provider broke off')
    }
    yield Buffer.from(`{"run":${run},"part":${part}}\n`)
  }
}
