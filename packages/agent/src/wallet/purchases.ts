import { AsyncLocalStorage } from 'node:async_hooks'
import { isDeepStrictEqual } from 'node:util'
import {
  type Cost,
  createPayingFetch,
  InsufficientFunds,
  type PayerWallet,
  type PayingFetch,
  type PendingPayment,
  QuoteRefused,
  SpendingLimitExceeded,
  type TabOption,
  type TabState,
} from '@tollbook/client'
import { readCall } from '@tollbook/client/tool/callBody'
import { assertPresent } from '@tollbook/core/assert'
import { hostOrigin, type MintRule, type Policy } from '../policy/policy.ts'
import type { PolicyFile } from '../policy/policyFile.ts'
import { tabOptionFor } from '../policy/tabOption.ts'
import type { FetchOrder } from '../walletWire.ts'
import type { AnsweredPayments } from './answeredPayments.ts'
import { costOf, type PurchaseCall, requireNoTab, watchPurchase } from './purchaseCall.ts'
import { WalletRefusal } from './refusalError.ts'

export interface PurchasesDeps {
  readonly wallet: PayerWallet
  readonly answered: AnsweredPayments
  /** Called for each request, so that a lowered limit applies at once. */
  readonly readPolicy: () => Promise<PolicyFile>
}

export interface Purchase {
  readonly response: Response
  /** Undefined if the answer was free. */
  readonly payment: PendingPayment | undefined
  readonly cost: Cost
}

export interface Purchases {
  /** `signal` stops the call until its payment is signed. */
  make(order: FetchOrder, signal: AbortSignal): Promise<Purchase>
  /** Presents the payment again. Never signs one. */
  retry(payment: PendingPayment): Promise<Purchase>
  /** A value is undefined if the service does not answer. */
  tabs(): Promise<ReadonlyMap<string, TabState | undefined>>
}

// Limits below the time that MCP hosts wait for a tool call, which is about a minute. Otherwise the host would not get
// the answer.
const retryLimits = { totalTimeMs: 50_000, attemptTimeoutMs: 45_000 }
const tabTimeoutMs = 5_000

export function createPurchases(deps: PurchasesDeps): Purchases {
  const calls = new AsyncLocalStorage<PurchaseCall>()
  const onEvent: OnEvent = async (event) => {
    const call = assertPresent(calls.getStore(), 'a payment belongs to a call')
    watchPurchase(call, event)
    // Check the policy again, because a service may delay its offer until the owner has made the policy stricter.
    if (event.kind === 'signed' && !isDeepStrictEqual((await deps.readPolicy()).policy, call.policy))
      throw new WalletRefusal('PAYMENT_NOT_SENT', 'the owner changed the policy meanwhile; repeat the request')
  }
  let current: { readonly text: string; readonly payers: Map<string, readonly PayingFetch[]> } | undefined
  /**
   * Returns one payer for each mint. Calls with the same deposits share payers, so that each call finds the payments of
   * the other calls.
   */
  const payersOf = ({ policy, text }: PolicyFile, tab?: TabOption) => {
    // Drop the payers of an earlier policy, because they apply its limits.
    if (current?.text !== text) current = { text, payers: new Map() }
    const name = JSON.stringify(tab ?? null)
    const payers =
      current.payers.get(name) ??
      Object.keys(policy.mints).map((mint) => payerFor(deps, { policy, mint, onEvent, tab }))
    current.payers.set(name, payers)
    return payers
  }
  const firstPayer = (file: PolicyFile) => assertPresent(payersOf(file)[0], 'a policy has a mint')
  return {
    async make(order, signal) {
      const file = await deps.readPolicy()
      const url = requireListed(order.url, file.policy)
      requireNoTab(url.pathname, readCall(bodyOf(order).toString())?.params.name)
      const { host } = url
      const call: PurchaseCall = { order, host, policy: file.policy, payment: undefined, debit: undefined }
      // Do not use a tab for a quote, because that could open a tab.
      const tab = order.intent === 'pay' ? tabOptionFor(file.policy, host) : undefined
      const { method, headers, bodyBase64 } = order
      const body = bodyBase64 === undefined ? {} : { body: bodyOf(order) }
      const init = { method, headers, ...body, signal: untilSigned(call, signal) }
      const response = await calls.run(call, () => payInAnyMint(payersOf(file, tab), url, init))
      return { response, payment: call.payment, cost: costOf(call) }
    },
    async retry(payment) {
      const file = await deps.readPolicy()
      const url = requireListed(payment.request.url, file.policy)
      // The other members are not used, because `resume` sends the stored request.
      const order: FetchOrder = { intent: 'pay', method: 'GET', url: url.href, headers: [] }
      const call: PurchaseCall = { order, host: url.host, policy: file.policy, payment, debit: undefined }
      const resume = () => firstPayer(file).resume(payment)
      return { response: await calls.run(call, resume), payment, cost: costOf(call) }
    },
    async tabs() {
      const file = await deps.readPolicy()
      const payer = firstPayer(file)
      const read = async (host: string): Promise<[string, TabState | undefined][]> => {
        try {
          const state = await payer.tabs.status(hostOrigin(host), { signal: AbortSignal.timeout(tabTimeoutMs) })
          return state === undefined ? [] : [[host, state]]
        } catch {
          // Report the tab as unknown if the service does not answer, so that the other balances are still shown.
          return [[host, undefined]]
        }
      }
      return new Map((await Promise.all(Object.keys(file.policy.hosts).map(read))).flat())
    },
  }
}

/**
 * Requires an http or https URL of a listed host, without a user name or a password. Compares hosts in the form that
 * the URL parser writes.
 */
function requireListed(text: string, { hosts }: Policy): URL {
  if (!URL.canParse(text)) throw new WalletRefusal('URL_REFUSED', 'the URL is not absolute')
  const url = new URL(text)
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new WalletRefusal('URL_REFUSED', 'the URL must begin with https://')
  // Refuse a user name, because it can make one host look like another: https://bank.example@evil.example.
  if (url.username !== '' || url.password !== '')
    throw new WalletRefusal('URL_REFUSED', 'the URL must not name a user or a password')
  if (!Object.hasOwn(hosts, url.host))
    throw new WalletRefusal('HOST_NOT_LISTED', `the host ${url.host} is not on the owner's list`)
  // Drop the fragment, which is not sent. With it, an equal request would not find its open payment.
  url.hash = ''
  return url
}

type OnEvent = NonNullable<Parameters<typeof createPayingFetch>[0]['onEvent']>

interface PayerOptions {
  readonly policy: Policy
  readonly mint: string
  readonly onEvent: OnEvent
  readonly tab: TabOption | undefined
}

/** All payers of a wallet share its folder, so limits in dollars cover all mints together. */
function payerFor({ wallet, answered }: PurchasesDeps, { policy, mint, onEvent, tab }: PayerOptions): PayingFetch {
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
    // Accept any burn: the owner limits the price, and each service decides its burned share.
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
    ...(tab !== undefined && boundsDeposits(rule) ? { tab } : {}),
    onEvent,
  })
}

/**
 * True if the limits of the mint bound deposits. If requests have a limit in base units, another limit in base units is
 * needed, because the limit per request does not apply to deposits.
 */
function boundsDeposits({ perRequestBaseUnits, perDayBaseUnits, perHostBaseUnits, totalBaseUnits }: MintRule): boolean {
  const sums = [perDayBaseUnits, perHostBaseUnits, totalBaseUnits]
  return perRequestBaseUnits === undefined || sums.some((sum) => sum !== undefined)
}

/** Trying several payers cannot pay twice: a payer throws the errors that are caught here before it sends a payment. */
async function payInAnyMint(payers: readonly PayingFetch[], url: URL, init: RequestInit): Promise<Response> {
  let refused: unknown
  for (const payer of payers) {
    try {
      return await payer(url, init)
    } catch (error) {
      const isOtherMint = error instanceof QuoteRefused && error.problem === 'other_mint'
      const isSpent = error instanceof SpendingLimitExceeded && error.unit === 'base units'
      if (!isOtherMint && !isSpent && !(error instanceof InsufficientFunds)) throw error
      // Prefer the error about missing tokens or a limit to one about a mint that is not offered.
      if (!isOtherMint || refused === undefined) refused = error
    }
  }
  throw refused
}

function bodyOf({ bodyBase64 = '' }: FetchOrder): Buffer<ArrayBuffer> {
  return Buffer.from(bodyBase64, 'base64')
}

/**
 * Returns a signal that cannot abort after the payment is signed. The call then continues without its front end, so
 * that the paid answer is kept.
 */
function untilSigned(call: PurchaseCall, signal: AbortSignal): AbortSignal {
  const stop = new AbortController()
  signal.addEventListener('abort', () => {
    if (call.payment === undefined) stop.abort(signal.reason)
  })
  return stop.signal
}
