import { z } from 'zod'
import { decodeBase58 } from '@tollbook/core/base58'
import type { Json } from '@tollbook/core/canonicalJson'
import type { BankState } from './bankState.ts'
import type { ChainNode } from './chainNode.ts'
import { RpcError, invalidParams, rpcErrorCodes } from './rpcError.ts'
import { type Commitment, commitments } from './slots.ts'

/** Takes the raw `params` and returns the `result`, or throws an `RpcError`. */
export type RpcMethod = (params: unknown) => Json

export type RpcMethods = Readonly<Record<string, RpcMethod>>

/** Parses the parameters first, so that `answer` receives only valid values. */
export function rpcMethod<S extends z.ZodType>(shape: S, answer: (params: z.output<S>) => Json): RpcMethod {
  return (params) => answer(parseParams(shape, params))
}

/** Throws an RPC error with code -32602 that names the wrong parameter. */
export function parseParams<S extends z.ZodType>(shape: S, params: unknown): z.output<S> {
  const parsed = shape.safeParse(params)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const place = issue === undefined || issue.path.length === 0 ? '' : ` at params.${issue.path.join('.')}`
  throw invalidParams(`Invalid params: ${issue?.message ?? 'not as expected'}${place}`)
}

/** The decoder checks the length first, because decoding takes quadratic time. */
export const addressParam = base58Param(32, 'address')
export const signatureParam = base58Param(64, 'signature')
export const blockhashParam = base58Param(32, 'blockhash')
export const slotParam = z.number().int().nonnegative()

/** The object may be absent or null. Unknown members are ignored. */
export function configParam<S extends z.ZodRawShape>(shape: S) {
  return z.object({ ...contextShape, ...shape }).nullish()
}

export const commitmentParam = z.enum(commitments).nullish()

const contextShape = {
  commitment: commitmentParam,
  minContextSlot: slotParam.nullish(),
}

export const contextConfig = configParam({})

/** Fields that every configuration may contain. */
export interface Context {
  readonly commitment?: Commitment | null | undefined
  readonly minContextSlot?: number | null | undefined
}

/** Returns the requested commitment. The default is `finalized`, as on nodes. */
export function commitmentOf(config: Context | null | undefined): Commitment {
  return config?.commitment ?? 'finalized'
}

/** Returns the slot of the response. Throws if it is below `minContextSlot`. */
export function contextSlot(node: ChainNode, config: Context | null | undefined): number {
  return reachedSlot(node.slotAt(commitmentOf(config)), config)
}

/**
 * Returns the accounts at the commitment. Throws if their slot is below `minContextSlot`, because a client that has
 * seen this slot must not get an older state.
 */
export function contextState(node: ChainNode, config: Context | null | undefined): BankState {
  const state = node.state(commitmentOf(config))
  reachedSlot(state.slot, config)
  return state
}

function reachedSlot(slot: number, config: Context | null | undefined): number {
  const least = config?.minContextSlot ?? 0
  if (least > slot) {
    const message = 'Minimum context slot has not been reached'
    throw new RpcError(rpcErrorCodes.minContextSlotNotReached, message, { contextSlot: slot })
  }
  return slot
}

export function inContext(slot: number, value: Json): Json {
  return { context: { apiVersion, slot }, value }
}

/**
 * Returns the commitment for a method that reads history. Throws for `processed`, because such a slot may still be
 * dropped.
 */
export function atLeastConfirmed(config: Context | null | undefined): Commitment {
  const commitment = config?.commitment ?? 'finalized'
  if (commitment === 'processed') throw invalidParams('Method does not support commitment below `confirmed`')
  return commitment
}

/** Release of the runtime crates in litesvm 1.5.0. Clients select their protocol variant by this version. */
export const apiVersion = '4.3.0'

function base58Param(byteLength: number, what: string) {
  return z.string().transform((text, context) => {
    const bytes = decodeBase58(text, byteLength)
    if (bytes !== undefined) return bytes
    context.addIssue({ code: 'custom', message: `Invalid param: not a base58 ${what} of ${byteLength} bytes` })
    return z.NEVER
  })
}
