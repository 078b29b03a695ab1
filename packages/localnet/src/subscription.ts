import { z } from 'zod'
import { type AccountEncoding, type DataSlice, accountStyleShape } from './accountJson.ts'
import { byteKey } from './byteKey.ts'
import { type AccountFilter, accountFilters } from './programFilter.ts'
import { addressParam, configParam, parseParams, signatureParam } from './rpcMethod.ts'
import type { Commitment } from './slots.ts'

/**
 * Filter of a subscription. Addresses and signatures are keys (see `byteKey`), because each event
 * is compared with all of them. The default commitment is `finalized`, as everywhere on a node.
 */
export type Subscription =
  | { readonly kind: 'slot' }
  | { readonly kind: 'root' }
  | {
      readonly kind: 'signature'
      readonly signature: string
      readonly received: boolean
      readonly commitment: Commitment
    }
  | {
      readonly kind: 'account'
      readonly address: string
      readonly style: AccountShape
      readonly commitment: Commitment
    }
  | {
      readonly kind: 'program'
      readonly program: string
      readonly filters: readonly AccountFilter[]
      readonly style: AccountShape
      readonly commitment: Commitment
    }
  | { readonly kind: 'logs'; readonly mentions: string | undefined; readonly commitment: Commitment }

export interface AccountShape {
  readonly encoding: AccountEncoding
  readonly dataSlice: DataSlice | null | undefined
}

/** Undefined when the method opens no subscription; throws an `RpcError` when its parameters are wrong. */
export function readSubscription(method: string, params: unknown): Subscription | undefined {
  return readers.get(method)?.(params)
}

export function isUnsubscribe(method: string): boolean {
  return unsubscribeMethods.has(method)
}

const signatureParams = z.tuple([
  signatureParam,
  configParam({ enableReceivedNotification: z.boolean().nullish() }).optional(),
])
const accountParams = z.tuple([addressParam, configParam(accountStyleShape).optional()])
const programParams = z.tuple([
  addressParam,
  configParam({ ...accountStyleShape, filters: accountFilters.nullish() }).optional(),
])
// Exactly one address, a node's limit. `allWithVotes` equals `all`, because this chain has no votes.
const logsParams = z.tuple([
  z.enum(['all', 'allWithVotes']).or(z.object({ mentions: z.tuple([addressParam]) })),
  configParam({}).optional(),
])

const readers: ReadonlyMap<string, (params: unknown) => Subscription> = new Map<
  string,
  (params: unknown) => Subscription
>([
  ['slotSubscribe', () => ({ kind: 'slot' })],
  ['rootSubscribe', () => ({ kind: 'root' })],
  ['signatureSubscribe', readSignature],
  ['accountSubscribe', readAccount],
  ['programSubscribe', readProgram],
  ['logsSubscribe', readLogs],
])

/** Numbers are given out over all kinds, so it does not matter which of these is called with one. */
const unsubscribeMethods: ReadonlySet<string> = new Set(
  [...readers.keys()].map((name) => name.replace('Subscribe', 'Unsubscribe')),
)

function readSignature(params: unknown): Subscription {
  const [signature, config] = parseParams(signatureParams, params)
  return {
    kind: 'signature',
    signature: byteKey(signature),
    received: config?.enableReceivedNotification === true,
    commitment: config?.commitment ?? 'finalized',
  }
}

function readAccount(params: unknown): Subscription {
  const [address, config] = parseParams(accountParams, params)
  const style = { encoding: config?.encoding ?? 'binary', dataSlice: config?.dataSlice }
  return { kind: 'account', address: byteKey(address), style, commitment: config?.commitment ?? 'finalized' }
}

function readProgram(params: unknown): Subscription {
  const [program, config] = parseParams(programParams, params)
  return {
    kind: 'program',
    program: byteKey(program),
    filters: config?.filters ?? [],
    style: { encoding: config?.encoding ?? 'binary', dataSlice: config?.dataSlice },
    commitment: config?.commitment ?? 'finalized',
  }
}

function readLogs(params: unknown): Subscription {
  const [filter, config] = parseParams(logsParams, params)
  const mentions = typeof filter === 'string' ? undefined : byteKey(filter.mentions[0])
  return { kind: 'logs', mentions, commitment: config?.commitment ?? 'finalized' }
}
