import { Keypair } from '@solana/web3.js'
import { keypairWallet, type PayerWallet } from '@tollbook/client/payerWallet'
import { createPayingFetch, type PayingFetch } from '@tollbook/client/payingFetch'
import type { PayingFetchOptions } from '@tollbook/client/payer'
import { type Presented, type ScriptedService, startScriptedService } from './scriptedService.ts'
import { mint } from './testToken.ts'
import { createVirtualClock, type VirtualClock } from './virtualClock.ts'

/** A payer, the service it pays and the clock on the wall. */
export interface Scene {
  readonly service: ScriptedService
  readonly clock: VirtualClock
  readonly wallet: CountingWallet
  readonly payingFetch: PayingFetch
  /** The proofs that the service was shown, each once. */
  proofs(): readonly string[]
  keys(): readonly string[]
  url(path: string): string
}

export interface CountingWallet extends PayerWallet {
  readonly signed: number
}

export async function openScene(options: Partial<PayingFetchOptions> = {}): Promise<Scene> {
  const service = await startScriptedService()
  const clock = createVirtualClock()
  const wallet = createCountingWallet()
  service.onHang = () => clock.expire()
  const payingFetch = createPayingFetch({
    wallet,
    clock,
    rpcUrl: service.rpcUrl,
    spendingLimit: { perRequest: { usd: '0.05' } },
    ...(options.dollarMints === undefined ? { expectedMint: mint.toBase58() } : {}),
    ...options,
  })
  return {
    service,
    clock,
    wallet,
    payingFetch,
    proofs: () => distinct(service.presented, 'x-payment-proof'),
    keys: () => distinct(service.presented, 'idempotency-key'),
    url: (path) => service.baseUrl + path,
  }
}

/** A separate wallet for each test, which counts: the number of signatures determines the possible loss of a payer. */
function createCountingWallet(): CountingWallet {
  const wallet = keypairWallet(Keypair.generate())
  let signed = 0
  return {
    address: wallet.address,
    get signed() {
      return signed
    },
    signTransaction: (transaction) => {
      signed++
      return wallet.signTransaction(transaction)
    },
  }
}

function distinct(presented: readonly Presented[], header: string): readonly string[] {
  return [...new Set(presented.map(({ headers }) => String(headers[header])))]
}

/** Rejection of a call; fails the test if it was not rejected. */
export async function rejectionOf(call: Promise<unknown>): Promise<unknown> {
  const outcome = await call.then(
    () => undefined,
    (error: unknown) => ({ error }),
  )
  if (outcome === undefined) throw new Error('expected a rejection')
  return outcome.error
}
