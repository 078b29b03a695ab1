import { z } from 'zod'
import type { AuditClock } from './clock.ts'
import { AuditFault } from './auditFault.ts'

export interface ChainNodeDeps {
  readonly rpcUrl: string
  readonly fetch: typeof globalThis.fetch
  readonly clock: AuditClock
  /** Called with the RPC method when an answer is slow, and before each wait that follows an unusable answer. */
  readonly onTrouble?: ((method: string) => void) | undefined
}

export interface ChainNode {
  transaction(signature: string): Promise<ChainTransaction | undefined>
  /** Returns a page of signatures of the account's transactions, newest first, that are older than `before`. */
  signaturesOf(account: string, before: string | undefined): Promise<readonly AccountSignature[]>
  /** Returns the oldest slot whose transactions the node has. The node has pruned the transactions of older slots. */
  firstSlot(): Promise<number>
  /** Waits up to a minute until the slot is final. False if it is not final then. */
  untilFinal(slot: number): Promise<boolean>
  tokenProgramOf(mint: string): Promise<string>
  /** Returns the confirmed balance of a token account, in base units; 0 if it does not exist. */
  balanceOf(tokenAccount: string): Promise<bigint>
}

const index = z.int().min(0)
// Maximum of characters, because decoding takes quadratic time. A program passes at most 10 KiB to another program.
const dataCharactersMax = 16_384
const base58Text = z
  .string()
  .max(dataCharactersMax)
  .regex(/^[1-9A-HJ-NP-Za-km-z]*$/)
const instruction = z.object({ programIdIndex: index, accounts: z.array(index), data: base58Text })
const tokenBalance = z.object({
  accountIndex: index,
  mint: z.string(),
  owner: z.string(),
  uiTokenAmount: z.object({ amount: z.string().regex(/^\d{1,20}$/) }),
})
const addresses = z.object({ writable: z.array(z.string()), readonly: z.array(z.string()) })

const chainTransaction = z.object({
  slot: index,
  blockTime: z.int().nullable().optional(),
  transaction: z.object({
    signatures: z.array(z.string()).min(1),
    message: z.object({
      header: z.object({ numRequiredSignatures: index }),
      accountKeys: z.array(z.string()).min(1),
      instructions: z.array(instruction),
    }),
  }),
  meta: z.object({
    err: z.unknown(),
    innerInstructions: z.array(z.object({ instructions: z.array(instruction) })),
    preTokenBalances: z.array(tokenBalance),
    postTokenBalances: z.array(tokenBalance),
    loadedAddresses: addresses.optional(),
  }),
})

export type ChainTransaction = z.infer<typeof chainTransaction>

const accountSignature = z.object({
  signature: z.string(),
  slot: index,
  err: z.unknown(),
  blockTime: z.int().nullable().optional(),
})

// Offset of the amount in a token account. In both token programs it follows the mint and the owner, 32 bytes each.
const amountAt = 64
const amountIn = z
  .base64()
  .transform((text) => Buffer.from(text, 'base64'))
  .refine(({ length }) => length >= amountAt + 8)
const tokenAccount = z.object({
  value: z
    .object({ data: z.tuple([amountIn.transform((data) => data.readBigUInt64LE(amountAt)), z.literal('base64')]) })
    .nullable(),
})

export type AccountSignature = z.infer<typeof accountSignature>

const finalized = { commitment: 'finalized' }
/** Maximum `limit` that `getSignaturesForAddress` accepts. */
export const signaturesPerPage = 1_000

/**
 * Creates a client for the node. It reads at the commitment `finalized`, and balances at `confirmed`. Every method
 * throws an `AuditFault` if the node does not answer usably.
 */
export function createChainNode(deps: ChainNodeDeps): ChainNode {
  return {
    transaction: async (signature) => {
      // Set this maximum, because without it a node refuses to return transactions that have a version.
      const options = { ...finalized, encoding: 'json', maxSupportedTransactionVersion: 1 }
      return (await ask(deps, ['getTransaction', signature, options], chainTransaction.nullable())) ?? undefined
    },
    signaturesOf: (account, before) => {
      const options = { ...finalized, limit: signaturesPerPage, ...(before === undefined ? {} : { before }) }
      return ask(deps, ['getSignaturesForAddress', account, options], z.array(accountSignature))
    },
    firstSlot: () => ask(deps, ['getFirstAvailableBlock'], index),
    untilFinal: createFinalityWait(deps),
    tokenProgramOf: async (mint) => {
      const owner = z.object({ value: z.object({ owner: z.string() }) })
      return (await ask(deps, ['getAccountInfo', mint, { ...finalized, encoding: 'base64' }], owner)).value.owner
    },
    balanceOf: async (account) => {
      const options = { commitment: 'confirmed', encoding: 'base64' }
      const { value } = await ask(deps, ['getAccountInfo', account, options], tokenAccount)
      return value === null ? 0n : value.data[0]
    },
  }
}

const finalityPollMs = 1_000
const finalityPollsMax = 60

/**
 * Creates the method `untilFinal`. After one slot that did not become final in time, later calls do not wait, because
 * the chain has probably stopped.
 */
function createFinalityWait(deps: ChainNodeDeps): ChainNode['untilFinal'] {
  let pollsMax = finalityPollsMax
  return async (slot) => {
    for (let poll = 0; poll < pollsMax; poll++) {
      if ((await ask(deps, ['getSlot', finalized], index)) >= slot) return true
      await deps.clock.sleep(finalityPollMs)
    }
    pollsMax = 0
    return (await ask(deps, ['getSlot', finalized], index)) >= slot
  }
}

// Retry for about a minute, because public nodes limit requests per minute. The waits grow from 0.5 s to 30 s.
export const attemptsMax = 8
const firstWaitMs = 500
const waitMaxMs = 30_000
export const timeoutMs = 30_000
/** Time in milliseconds without an answer, after which `onTrouble` is called. */
const slowMs = 5_000
const answerBytesMax = 16 * 1024 * 1024

async function ask<T>(
  deps: ChainNodeDeps,
  [method, ...params]: readonly [string, ...unknown[]],
  schema: z.ZodType<T>,
): Promise<T> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  let lastError: unknown
  for (let attempt = 1; attempt <= attemptsMax; attempt++) {
    const slow = setTimeout(() => deps.onTrouble?.(method), slowMs)
    try {
      return schema.parse(resultOf(await post(deps, body)))
    } catch (error) {
      lastError = error
    } finally {
      clearTimeout(slow)
    }
    if (attempt === attemptsMax) break
    deps.onTrouble?.(method)
    await deps.clock.sleep(Math.min(firstWaitMs * 2 ** (attempt - 1), waitMaxMs))
  }
  // Omit the URL of the node from the message, because it may contain a key.
  throw new AuditFault(`the Solana node did not answer ${method} usably`, { cause: lastError, retryable: true })
}

async function post(deps: ChainNodeDeps, body: string): Promise<unknown> {
  const signal = AbortSignal.timeout(timeoutMs)
  const headers = { 'content-type': 'application/json' }
  return readJson(await deps.fetch(deps.rpcUrl, { method: 'POST', headers, body, signal }))
}

async function readJson(response: Response): Promise<unknown> {
  if (!response.ok) throw new Error(`the node answered ${response.status}`)
  const text = await response.text()
  if (text.length > answerBytesMax) throw new Error('the answer is larger than any transaction')
  return JSON.parse(text)
}

const answer = z.union([
  z.object({ error: z.object({ code: z.int(), message: z.string() }) }),
  z.object({ result: z.unknown() }),
])

function resultOf(value: unknown): unknown {
  const parsed = answer.parse(value)
  if ('error' in parsed) throw new Error(`${parsed.error.code}: ${parsed.error.message}`)
  return parsed.result
}
