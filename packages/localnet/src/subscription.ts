import { z } from 'zod'
import { type AccountEncoding, type DataSlice, accountStyleShape } from './accountJson.ts'
import { byteKey } from './byteKey.ts'
import { addressParam, configParam, parseParams, signatureParam } from './rpcMethod.ts'
import type { Commitment } from './slots.ts'

/**
 * Filter of a subscription. Addresses and signatures are keys (see `byteKey`), because each event is compared with all
 * of them. The default commitment is `finalized`, as in all methods of a node.
 */
export type Subscription =
  | { readonly kind: 'slot' }
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

export interface AccountShape {
  readonly encoding: AccountEncoding
  readonly dataSlice: DataSlice | null | undefined
}

/** Undefined if the method does not open a subscription. Throws an `RpcError` if its parameters are invalid. */
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

const readers: ReadonlyMap<string, (params: unknown) => Subscription> = new Map<
  string,
  (params: unknown) => Subscription
>([
  ['slotSubscribe', () => ({ kind: 'slot' })],
  ['signatureSubscribe', readSignature],
  ['accountSubscribe', readAccount],
])

/** All kinds share one sequence of numbers, so any of these methods can close any subscription. */
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
