import type { Keypair } from '@solana/web3.js'
import { createPayingFetch, keypairWallet } from '@tollbook/client'
import { assert } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import { type LocalNode, startLocalChain } from '@tollbook/localnet/localChain'
import { provisionWallets } from '../test/support/provisionWallets.ts'
import { askQuote, present } from '../test/proofs/present.ts'
import { openEnvironment } from '../test/proofs/proofEnvironment.ts'
import { spawnServer } from '../test/proofs/spawnServer.ts'
import { createPayer } from '../test/support/payer.ts'
import type { Bench, Yardstick } from './yardstick.ts'

const landedPayments = 20
const unsentPayments = { 1: 8, 16: 64 } as const
/** Mainnet's pace: how often a waiting payment is looked for depends on the slots that pass. */
const slotMs = 400
const idleSeconds = 5

/** The chain has two nodes. The service has the first to itself, so that the calls of payers are not among its own. */
export const rpcCalls: Bench = {
  name: 'rpc',
  about: 'calls to the Solana node per paid request: landed signatures, and unsent transactions at 1 and 16 callers',
  async run({ progress }) {
    await using opened = new AsyncDisposableStack()
    const environment = opened.use(await openEnvironment())
    const chain = await startLocalChain({ slotMs, nodes: [{}, {}] })
    opened.defer(() => chain.close())
    const [serviceNode, payerNode] = chain.nodes
    assert(serviceNode !== undefined && payerNode !== undefined, 'two nodes')
    const wallets = await provisionWallets(chain)
    const TOKEN_MINT = wallets.mint.publicKey.toBase58()
    const PAYMENT_WALLET = wallets.paymentWallet.publicKey.toBase58()
    const env = { ...environment.env, SOLANA_RPC_URLS: serviceNode.rpcUrl, TOKEN_MINT, PAYMENT_WALLET }
    const server = await spawnServer({ env, runsFile: `${environment.directory}/runs` })
    opened.defer(() => server.stop())
    const service = {
      baseUrl: server.baseUrl,
      demoWallet: wallets.demoWallet,
      mint: TOKEN_MINT,
      serviceNode,
      payerNode,
    }
    // The jobs have work from here on: a payment that waits for finality.
    await presentAll(service, await landPayments(service, 1))
    const idle = await countCalls(serviceNode, () => systemClock.sleep(idleSeconds * 1000))
    progress(`rpc: without payments ${idle.perSecond.toFixed(1)} calls a second`)

    const landed = await landedForm(service, idle.perSecond)
    progress(`rpc: ${landedPayments} landed payments`)
    const found = [landed]
    for (const callers of [1, 16] as const) {
      found.push(await unsentForm(service, callers, idle.perSecond))
      progress(`rpc: ${unsentPayments[callers]} unsent payments of ${callers} callers`)
    }
    return found
  },
}

interface PaidService {
  readonly baseUrl: string
  readonly demoWallet: Keypair
  readonly mint: string
  readonly serviceNode: LocalNode
  readonly payerNode: LocalNode
}

interface Calls {
  readonly byMethod: ReadonlyMap<string, number>
  readonly count: number
  readonly seconds: number
  readonly perSecond: number
}

async function countCalls(node: LocalNode, work: () => Promise<unknown>): Promise<Calls> {
  node.forgetRequestCounts()
  const startedAtMs = systemClock.monotonicMs()
  await work()
  const seconds = (systemClock.monotonicMs() - startedAtMs) / 1000
  const byMethod = node.requestCounts()
  const count = [...byMethod.values()].reduce((sum, each) => sum + each, 0)
  return { byMethod, count, seconds, perSecond: count / seconds }
}

/** Returns the proofs of payments that are on chain. */
async function landPayments(
  { baseUrl, demoWallet, payerNode }: PaidService,
  count: number,
): Promise<readonly string[]> {
  const payer = createPayer({ rpcUrl: payerNode.rpcUrl, wallet: demoWallet })
  const request = { baseUrl, wallet: payer.address, symbol: 'BTC' }
  return Promise.all(Array.from({ length: count }, async () => payer.pay(await askQuote(request))))
}

async function presentAll({ baseUrl, demoWallet }: PaidService, proofs: readonly string[]): Promise<void> {
  const request = { baseUrl, wallet: demoWallet.publicKey.toBase58(), symbol: 'BTC' }
  for (const proof of proofs) assert((await present({ ...request, proof })).status === 200, 'each proof buys an answer')
}

async function landedForm(service: PaidService, idlePerSecond: number): Promise<Yardstick> {
  const proofs = await landPayments(service, landedPayments)
  const calls = await countCalls(service.serviceNode, () => presentAll(service, proofs))
  const what = 'RPC calls per paid request, signature form, already confirmed'
  return yardstick({ what, calls, payments: landedPayments, idlePerSecond, goal: 1 })
}

async function unsentForm(service: PaidService, callers: keyof typeof unsentPayments, idlePerSecond: number) {
  const payments = unsentPayments[callers]
  const payingFetch = createPayingFetch({
    wallet: keypairWallet(service.demoWallet),
    rpcUrl: service.payerNode.rpcUrl,
    expectedMint: service.mint,
    spendingLimit: { perRequest: { usd: '1' } },
  })
  let left = payments
  const work = async (): Promise<void> => {
    while (left-- > 0) {
      const response = await payingFetch(`${service.baseUrl}/api/data/crypto?symbol=BTC`)
      assert(response.status === 200, `a paid request is answered 200, not ${response.status}`)
    }
  }
  service.payerNode.forgetRequestCounts()
  const calls = await countCalls(service.serviceNode, () => Promise.all(Array.from({ length: callers }, work)))
  const client = [...service.payerNode.requestCounts()].reduce((sum, [, count]) => sum + count, 0)
  // The wallet has paid before, in the landed form. The first payment of a wallet costs one call more.
  const what = `RPC calls per paid request, unsent form of a wallet that has paid, ${callers} waiting payment${callers === 1 ? '' : 's'}`
  const found = yardstick({ what, calls, payments, idlePerSecond, goal: 2.5 })
  return { ...found, detail: `${found.detail}; the client makes ${(client / payments).toFixed(1)} more` }
}

interface Counted {
  readonly what: string
  readonly calls: Calls
  readonly payments: number
  readonly idlePerSecond: number
  readonly goal: number
}

/** Jobs call the node with or without payments; their share is measured beforehand and left out. */
function yardstick({ what, calls, payments, idlePerSecond, goal }: Counted): Yardstick {
  const background = idlePerSecond * calls.seconds
  const methods = [...calls.byMethod].map(([method, count]) => `${method} ${count}`).join(', ')
  const detail = `${methods} for ${payments} requests, of these ${background.toFixed(0)} in the background`
  return { what, value: Math.max(0, calls.count - background) / payments, goal: { atMost: goal }, detail }
}
