import { AsyncLocalStorage } from 'node:async_hooks'
import {
  createPayingFetch,
  type PayerWallet,
  type PayingFetch,
  type PendingPayment,
  QuoteRefused,
} from '@tollbook/client'
import { assertPresent } from '@tollbook/core/assert'
import type { Policy } from '../policy/policy.ts'
import type { PolicyFile } from '../policy/policyFile.ts'
import type { FetchOrder } from '../walletWire.ts'
import type { AnsweredPayments } from './answeredPayments.ts'
import { requireListed } from './listedUrl.ts'
import { type PurchaseCall, watchPurchase } from './purchaseCall.ts'

export interface PurchasesDeps {
  readonly wallet: PayerWallet
  readonly answered: AnsweredPayments
  /** Read for each call, so that a lowered limit applies at once. */
  readonly readPolicy: () => Promise<PolicyFile>
}

export interface Purchase {
  readonly response: Response
  /** Undefined for an answer that was free. Known once the answer begins. */
  readonly payment: PendingPayment | undefined
}

export interface Purchases {
  /** Makes the request of a front end and pays for it within the policy. `signal` stops it until it is signed. */
  make(order: FetchOrder, signal: AbortSignal): Promise<Purchase>
  /** Presents an open payment again. Signs nothing. */
  retry(payment: PendingPayment): Promise<Purchase>
}

// A host gives up on a tool call after a minute.
const retryLimits = { totalTimeMs: 50_000, attemptTimeoutMs: 45_000 }

export function createPurchases(deps: PurchasesDeps): Purchases {
  const calls = new AsyncLocalStorage<PurchaseCall>()
  const onEvent: NonNullable<Parameters<typeof createPayingFetch>[0]['onEvent']> = (event) =>
    watchPurchase(assertPresent(calls.getStore(), 'a payment belongs to a call'), event)
  let current: { readonly text: string; readonly payers: readonly PayingFetch[] } | undefined
  const payersOf = ({ policy, text }: PolicyFile) => {
    if (current?.text !== text) {
      const payers = Object.keys(policy.mints).map((mint) => payerFor(deps, { policy, mint, onEvent }))
      current = { text, payers }
    }
    return current.payers
  }
  return {
    async make(order, signal) {
      const file = await deps.readPolicy()
      const url = requireListed(order.url, file.policy)
      const call: PurchaseCall = { order, host: url.host, policy: file.policy, payment: undefined }
      const init = { ...requestInit(order), signal: untilSigned(call, signal) }
      const response = await calls.run(call, () => payInAnyMint(payersOf(file), url, init))
      return { response, payment: call.payment }
    },
    async retry(payment) {
      const file = await deps.readPolicy()
      const url = requireListed(payment.request.url, file.policy)
      const order: FetchOrder = { intent: 'pay', method: 'GET', url: url.href, headers: [] }
      const call: PurchaseCall = { order, host: url.host, policy: file.policy, payment }
      const [payer] = payersOf(file)
      const resume = () => assertPresent(payer, 'a policy has a mint').resume(payment)
      return { response: await calls.run(call, resume), payment }
    },
  }
}

type OnEvent = NonNullable<Parameters<typeof createPayingFetch>[0]['onEvent']>

interface PayerOptions {
  readonly policy: Policy
  readonly mint: string
  readonly onEvent: OnEvent
}

/** A payer of one mint. All payers of a wallet share its folder, so that limits in dollars hold over all mints. */
function payerFor({ wallet, answered }: PurchasesDeps, { policy, mint, onEvent }: PayerOptions): PayingFetch {
  const { rpcUrl, network, limits } = policy
  const rule = assertPresent(policy.mints[mint], 'a mint of the policy has a rule')
  const ceiling = (usd: string, baseUnits: string | undefined) => ({
    usd,
    ...(baseUnits === undefined ? {} : { baseUnits: BigInt(baseUnits) }),
  })
  const optional = (usd: string | undefined, baseUnits: string | undefined) =>
    usd !== undefined ? ceiling(usd, baseUnits) : baseUnits === undefined ? undefined : { baseUnits: BigInt(baseUnits) }
  const perHost = optional(limits.perHostUsd, rule.perHostBaseUnits)
  const total = optional(limits.totalUsd, rule.totalBaseUnits)
  return createPayingFetch({
    wallet,
    rpcUrl,
    expectedMint: mint,
    usdPerToken: rule.usdPerToken,
    ...(network === undefined ? {} : { expectedNetwork: network }),
    // The owner limits what is paid; each service decides what it burns of it.
    expectedBurnPercent: 'any',
    protocols: ['x402', 'mpp'],
    spendingLimit: {
      perRequest: ceiling(limits.perRequestUsd, rule.perRequestBaseUnits),
      perDay: ceiling(limits.perDayUsd, rule.perDayBaseUnits),
      day: 'utc',
      ...(perHost === undefined ? {} : { perHost }),
      ...(total === undefined ? {} : { total }),
    },
    retry: retryLimits,
    store: answered.store,
    onEvent,
  })
}

/** Asks the payers in the order of the policy. A payer whose mint is not offered has signed nothing. */
async function payInAnyMint(payers: readonly PayingFetch[], url: URL, init: RequestInit): Promise<Response> {
  for (const payer of payers.slice(0, -1)) {
    try {
      return await payer(url, init)
    } catch (error) {
      if (!(error instanceof QuoteRefused) || error.problem !== 'other_mint') throw error
    }
  }
  return assertPresent(payers.at(-1), 'a policy has a mint')(url, init)
}

function requestInit({ method, headers, bodyBase64 }: FetchOrder): RequestInit {
  const body = bodyBase64 === undefined ? {} : { body: Buffer.from(bodyBase64, 'base64') }
  return { method, headers: headers.map(([name, value]): [string, string] => [name, value]), ...body }
}

/** Ends a call whose front end is gone, unless its payment is signed: then the answer is worth waiting for. */
function untilSigned(call: PurchaseCall, signal: AbortSignal): AbortSignal {
  const stop = new AbortController()
  signal.addEventListener('abort', () => {
    if (call.payment === undefined) stop.abort(signal.reason)
  })
  return stop.signal
}
