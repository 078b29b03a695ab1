import type { NodeBehaviour } from '@tollbook/localnet/localChain'
import { openChain } from '../../src/chain/openChain.ts'
import { postJson } from '../../src/outbound/postJson.ts'
import { assert } from '@tollbook/core/assert'
import { describeError } from '@tollbook/core/fault'
import type { NodeRegistry } from '../../src/chain/nodeRegistry.ts'
import { memoOfSecret } from '@tollbook/core/binding'
import type { Order } from '../../src/payment/payment.ts'
import type { PaymentLedger } from '../../src/payment/paymentLedger.ts'
import { plainPrice, type Price, type Quote } from '@tollbook/core/quote'
import { type Refusal, isRefusal } from '@tollbook/core/refusal'
import type { Settlement } from '../../src/payment/settlement.ts'
import type { PaymentRail } from '../../src/paywall/rail.ts'
import { defaultSplit } from '../../src/pricing/splitSetting.ts'
import { defaultTokenNames } from '../../src/pricing/tokenNames.ts'
import { createFirstPresentations } from '../../src/rails/solana/firstPresentation.ts'
import { createNativeRail } from '../../src/rails/native/nativeRail.ts'
import type { SolanaProof } from '../../src/rails/solana/solanaProof.ts'
import { systemClock } from '@tollbook/core/clock'
import { newId, randomToken } from '@tollbook/core/id'
import { silentLog } from '../../src/machine/log.ts'
import { openLedger } from '../../src/store/openLedger.ts'
import { type HeldClock, createHeldClock } from './heldClock.ts'
import {
  type Customer,
  type MintKind,
  type ChainFixture,
  addressOf,
  openChainFixture,
  priceOf,
} from './chainFixture.ts'
import { type TamperingNode, openTamperingNode } from './tamperingNode.ts'
import { requestOf } from '../paywall/requestOf.ts'

/** A lab with everything the native rail needs: a real ledger, a clock that a test moves, and a node that it can break. */
export interface VerifierFixture extends ChainFixture {
  readonly clock: HeldClock
  readonly ledger: PaymentLedger
  readonly rail: PaymentRail<SolanaProof>
  /** The rail of another process, which has nothing in memory. */
  openRail(): PaymentRail<SolanaProof>
  /** Puts another price list in force from now on. */
  publishPrice(requiredBaseUnits: bigint): Promise<void>
  /** Number of a list with this price, which is on record and no longer in force. */
  listNumberOf(price: Price): Promise<number>
  /** Polled by the tests that need to; the service polls them by the clock. */
  readonly nodes: NodeRegistry
  /** Proxy between the rail and the chain. */
  readonly node: TamperingNode
  close(): Promise<void>
}

const endpoint = '/api/data/weather'
export const proofMaxAgeMs = 600_000
export const quoteTtlMs = 300_000
export const quoteGraceMs = 60_000
const proofLookupWaitMs = 2_000
const broadcastWaitMs = 10_000
/** Price of the list in force, in addition to the fixture's own price. */
export const listRequiredBaseUnits = 2_000_000n
/** Current price of the service; it does not affect a payment that has landed. */
const currentRequiredBaseUnits = 3_000_000n

export interface VerifierOptions {
  /** The first is the payer's; the rail asks the others. Without them it asks the payer's, through a proxy. */
  readonly nodes?: readonly NodeBehaviour[]
  /** With `nodes`: the rail asks the proxy first, and then the others. */
  readonly asksProxyFirst?: true
  readonly commitment?: 'confirmed' | 'finalized'
  /** Clock of the service minus the clock of the chain. */
  readonly clockSkewMs?: number
  readonly quorumAboveMicroUsd?: bigint
}

/** `databaseUrl`: a migrated database that belongs to this service. */
export async function openVerifierFixture(
  kind: MintKind,
  databaseUrl: string,
  options: VerifierOptions = {},
): Promise<VerifierFixture> {
  const { clockSkewMs = 0, commitment = 'confirmed', quorumAboveMicroUsd } = options
  const clock = createHeldClock(systemClock.nowMs())
  const serverClock = { ...clock, nowMs: () => clock.nowMs() + clockSkewMs }
  const fixture = await openChainFixture(kind, clock, options.nodes)
  const node = await openTamperingNode(fixture.chain.rpcUrl)
  const opened = { databaseUrl, applicationName: 'verification tests', log: silentLog }
  const ledger = await openLedger({ ...opened, clock: serverClock })
  const publish = (price: Price) =>
    ledger.priceLists.publish({ kind: 'PriceListPublished', source: 'fixed', split: defaultSplit, prices: [price] })
  let inForce = priceOf(fixture.terms, listRequiredBaseUnits, endpoint)
  const publishPrice = async (requiredBaseUnits: bigint) => {
    inForce = priceOf(fixture.terms, requiredBaseUnits, endpoint)
    await publish(inForce)
  }
  const listNumberOf = async (price: Price) => {
    const number = await publish(price)
    await publish(inForce)
    return number
  }
  await publish(inForce)
  const {
    reader: chain,
    terms,
    nodes,
  } = await openChain({
    rpcUrls: [
      ...(options.nodes === undefined || options.asksProxyFirst === true ? [node.url] : []),
      ...(options.nodes === undefined ? [] : fixture.chain.nodes.slice(1).map(({ rpcUrl }) => rpcUrl)),
    ],
    tokenMint: fixture.terms.mint,
    paymentWallet: fixture.terms.paymentWallet,
    commitment,
    postJson,
    log: silentLog,
    clock: serverClock,
  })
  const currentPrice = () => ({ ...priceOf(terms, currentRequiredBaseUnits, endpoint), priceList: 1 })
  const limits = { proofLookupWaitMs, broadcastWaitMs, proofMaxAgeMs, quoteGraceMs, quorumAboveMicroUsd }
  const slot = () => 0
  const native = {
    chain,
    clock: serverClock,
    terms,
    ledger: ledger.payments,
    currentPrice,
    slot,
    split: defaultSplit,
    token: defaultTokenNames,
  }
  const presenting = {
    chain,
    presentations: ledger.presentations,
    onUnrecorded: (error: unknown) => assert(false, `the presentation is recorded: ${describeError(error)}`),
  }
  const openRail = () => createNativeRail(limits, { ...native, first: createFirstPresentations(presenting) })
  const close = async () => {
    await ledger.close()
    await node.close()
    await fixture.chain.close()
  }
  return {
    ...fixture,
    clock,
    ledger: ledger.payments,
    publishPrice,
    listNumberOf,
    rail: openRail(),
    openRail,
    node,
    nodes,
    close,
  }
}

export function orderOf(customer: Pick<Customer, 'address'>): Order {
  return { wallet: addressOf(customer.address), endpoint, digest: 'a'.repeat(64) }
}

/** Presents a proof as the paywall does: reads it, looks it up in the ledger, judges it. */
export async function present(
  verifier: Pick<VerifierFixture, 'rail' | 'ledger'>,
  customer: Pick<Customer, 'address'>,
  header: string,
): Promise<Settlement | Refusal> {
  const order = orderOf(customer)
  const request = requestOf({ headers: { 'x-wallet-address': order.wallet, 'x-payment-proof': header } })
  const presented = verifier.rail.read(request)
  if (isRefusal(presented)) return presented
  const { proof } = presented
  const { reference } = proof
  const { payment } = await verifier.ledger.lookUp({ reference, wallet: order.wallet, idempotencyKey: undefined })
  return (await verifier.rail.settle({ proof, order, payment })).verdict
}

/** Lets the chain pass every height at which bytes that exist by now could land. */
export async function passLandingBound(verifier: Pick<VerifierFixture, 'chain' | 'nodes'>): Promise<void> {
  const { lastValidHeight } = verifier.nodes.landingBound()
  await verifier.nodes.poll()
  // The local chain skips no slot, and is final after 32.
  verifier.chain.advanceSlots(lastValidHeight - verifier.nodes.height() + 40)
  await verifier.nodes.poll()
}

export interface Offer {
  readonly quote: Quote
  readonly secret: string
}

/** A quote at the lab's price, as a 402 would have made it now. */
export async function quoteFor(
  verifier: VerifierFixture,
  customer: Pick<Customer, 'address'>,
  changes: Partial<Quote> = {},
): Promise<Offer> {
  const secret = randomToken()
  const issuedAtMs = verifier.clock.nowMs()
  const quote: Quote = {
    ...verifier.price,
    id: newId('quote'),
    wallet: addressOf(customer.address),
    memo: memoOfSecret(secret),
    issuedAtMs,
    expiresAtMs: issuedAtMs + quoteTtlMs,
    slot: await verifier.connection.getSlot('confirmed'),
    ...changes,
    priceList: await verifier.listNumberOf(plainPrice({ ...verifier.price, ...changes })),
  }
  await verifier.ledger.recordQuote(quote)
  return { quote, secret }
}

/** The header for a signature as the specification has it: base64 of its base58 text. */
export function signatureProof(signature: string, secret?: string): string {
  return base64(secret === undefined ? signature : JSON.stringify({ signature, secret }))
}

/** The header for a signed transaction that has not been sent. */
export function transactionProof(bytes: Uint8Array, secret?: string): string {
  const transaction = Buffer.from(bytes).toString('base64')
  return secret === undefined ? transaction : base64(JSON.stringify({ transaction, secret }))
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}
