import { Keypair } from '@solana/web3.js'
import { assert } from '@tollbook/core/assert'
import { startLocalChain } from '@tollbook/localnet/localChain'
import { provisionChain } from '../src/cli/local/provisionChain.ts'
import { askQuote, present } from '../test/proofs/present.ts'
import { openEnvironment } from '../test/proofs/proofEnvironment.ts'
import { spawnServer } from '../test/proofs/spawnServer.ts'
import { createPayer } from '../test/support/payer.ts'
import type { Bench } from './yardstick.ts'

const payments = 20
// The job that reads the newest slot runs every two seconds, with or without payments.
const background = 'getSlot'

export const rpcCalls: Bench = {
  name: 'rpc',
  about: 'calls to the Solana node per paid request: signature form, already confirmed',
  async run({ progress }) {
    await using opened = new AsyncDisposableStack()
    const environment = opened.use(await openEnvironment())
    // A chain of this process, because it can be asked what it has been asked.
    const chain = await startLocalChain({ slotMs: 40 })
    opened.defer(() => chain.close())
    const [mint, mintAuthority, paymentWallet, demoWallet] = [0, 1, 2, 3].map(() => Keypair.generate())
    assert(
      mint !== undefined && mintAuthority !== undefined && paymentWallet !== undefined && demoWallet !== undefined,
      'four keys',
    )
    await provisionChain(chain, { mint, mintAuthority, paymentWallet, demoWallet })
    const [TOKEN_MINT, PAYMENT_WALLET] = [mint.publicKey.toBase58(), paymentWallet.publicKey.toBase58()]
    const env = { ...environment.env, SOLANA_RPC_URLS: chain.rpcUrl, TOKEN_MINT, PAYMENT_WALLET }
    const server = await spawnServer({ env, runsFile: `${environment.directory}/runs` })
    opened.defer(() => server.stop())

    const payer = createPayer({ rpcUrl: chain.rpcUrl, wallet: demoWallet })
    const request = { baseUrl: server.baseUrl, wallet: payer.address, symbol: 'BTC' }
    const proofs: string[] = []
    for (let nth = 0; nth < payments; nth++) proofs.push(await payer.pay(await askQuote(request)))
    progress(`rpc: ${payments} payments have landed`)
    chain.forgetRequestCounts()
    for (const proof of proofs)
      assert((await present({ ...request, proof })).status === 200, 'each proof buys an answer')
    const counts = [...chain.requestCounts()].filter(([method]) => method !== background)
    const calls = counts.reduce((sum, [, count]) => sum + count, 0)
    const what = 'RPC calls per paid request, signature form, already confirmed'
    const detail = `${counts.map(([method, count]) => `${method} ${count}`).join(', ')} for ${payments} requests, without the ${background} of the background`
    return [{ what, value: calls / payments, goal: { atMost: 1 }, detail }]
  },
}
