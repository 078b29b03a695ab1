import { LRUCache } from 'lru-cache'
import { canonicalJson } from '@tollbook/core/canonicalJson'
import { sha256Hex } from '@tollbook/core/digest'
import type { Clock } from '@tollbook/core/clock'
import { Fault } from '@tollbook/core/fault'
import type { Signature } from '@tollbook/core/signature'
import type { FindOptions, Finding, Found, Unknown } from '../payment/chainReader.ts'
import type { TransactionRecord } from '../payment/transactionRecord.ts'
import type { ChainNode } from './chainNode.ts'
import { type ConfirmationLoop, createConfirmationLoop, type Sighting } from './confirmationLoop.ts'
import { proveAbsence } from './proveAbsence.ts'
import { callNode, createRpcClient, refusalIsFault, type RotationDeps } from './rpcClient.ts'
import type { Commitment } from './commitment.ts'
import { transactionJson } from './transactionJson.ts'
import { recordOf } from './transactionRecordOf.ts'

export interface LookupDeps extends RotationDeps {
  readonly clock: Clock
  readonly commitment: Commitment
}

export type FindTransaction = (signature: Signature, options?: FindOptions) => Promise<Finding>

// Lifetime of a found record: about 12 slots. It is short, because a fork can still drop a record below finality.
const foundForMs = 5_000
const rememberedMax = 2_000
const sharedMax = 10_000

interface Memory {
  readonly found: LRUCache<string, Found>
  readonly unseen: LRUCache<string, Unknown>
  readonly running: Map<string, Promise<TransactionRecord | undefined>>
}

interface Search extends LookupDeps {
  readonly loop: ConfirmationLoop
  readonly memory: Memory
}

/** Concurrent lookups of one signature share their queries, and a found record is cached for a short time. */
export function createLookup(deps: LookupDeps): FindTransaction {
  const perf = { now: () => deps.clock.monotonicMs() }
  const search: Search = {
    ...deps,
    loop: createConfirmationLoop(deps),
    memory: {
      found: new LRUCache({ max: rememberedMax, ttl: foundForMs, ttlResolution: 0, perf }),
      unseen: new LRUCache({ max: sharedMax, ttl: 1, ttlResolution: 0, perf }),
      running: new Map(),
    },
  }
  return (signature, options = {}) => find(search, signature, options)
}

async function find(search: Search, signature: Signature, options: FindOptions): Promise<Finding> {
  const { memory } = search
  const commitment = options.commitment ?? search.commitment
  // Do not use the cache for a result that may end a payment, because a cached record comes from one node.
  if (options.isAgreed === true) return findAgreed(search, { signature, commitment })
  const key = `${signature} ${commitment}`
  const known = memory.found.get(key)
  if (known !== undefined) return known
  const unseen = memory.unseen.get(key)
  if (unseen !== undefined && options.isSent !== true && unseen.slot >= (options.minSlot ?? 0))
    return (await proveIfBound(search, signature, options)) ?? unseen

  const finding = await look(search, { ...options, signature, commitment })
  if (finding.kind === 'found') memory.found.set(key, { ...finding, nodes: 0, isAgreed: false })
  // Cache an unknown signature for one slot, because the chain confirms nothing new before the next slot.
  if (finding.kind === 'unknown' && !finding.isSeen) memory.unseen.set(key, finding, { ttl: search.nodes.slotMs() })
  return finding
}

interface Query extends Omit<FindOptions, 'commitment'> {
  readonly signature: Signature
  readonly commitment: Commitment
}

async function look(search: Search, query: Query): Promise<Finding> {
  const { clock } = search
  const { signature, commitment, isSent = false, minSlot, waitMs = 0 } = query
  const deadlineMs = clock.monotonicMs() + waitMs
  // Read the transaction first: a payment that landed before it was presented costs only this call. Follow the status
  // of a transaction that was just sent or was not found, in a query that other lookups share.
  const mayHaveLanded = !isSent && minSlot === undefined
  const record = mayHaveLanded ? await readShared(search, query) : undefined
  if (record !== undefined) return foundBy(search, 1, record)
  const leftMs = () => Math.max(0, deadlineMs - clock.monotonicMs())
  const watch = () => search.loop.watch({ signature, commitment, waitMs: leftMs(), isExpected: isSent })
  let sighting = await watch()
  while (sighting.kind === 'landed') {
    const landed = await readFrom(search, sighting.node, query)
    if (landed !== undefined) return foundBy(search, 1, landed)
    if (leftMs() === 0) break
    // Wait one slot, because the node has confirmed the transaction but cannot return it yet.
    await clock.sleep(search.nodes.slotMs())
    sighting = await watch()
  }
  return conclude(search, query, sighting)
}

function foundBy(search: Search, nodes: number, record: TransactionRecord): Found {
  return { kind: 'found', record, slot: record.slot, nodes, isAgreed: nodes >= search.nodes.agreeingMin }
}

async function conclude(search: Search, query: Query, sighting: Sighting): Promise<Finding> {
  const { slot } = sighting
  if (sighting.kind !== 'unseen') {
    const why = `a node has it in slot ${slot}, not at the commitment ${query.commitment} yet`
    return { kind: 'unknown', why, slot, isSeen: true, isAgreed: false }
  }
  const proven = await proveIfBound(search, query.signature, query)
  const isAgreed = sighting.nodes >= search.nodes.agreeingMin
  return proven ?? { kind: 'unknown', why: `no node has it up to slot ${slot}`, slot, isSeen: false, isAgreed }
}

async function proveIfBound(search: Search, signature: Signature, { bound }: Pick<FindOptions, 'bound'>) {
  return bound === undefined ? undefined : proveAbsence(search, { signature, bound })
}

const maxSupportedTransactionVersion = 1

function question({ signature, commitment }: Pick<Query, 'signature' | 'commitment'>) {
  // 1 accepts the transaction format that went live in September 2026. With 0 the node would refuse a transaction in
  // this format (-32015).
  const options = { encoding: 'json', commitment, maxSupportedTransactionVersion }
  // Build the record within the call, so that an answer that contradicts itself makes the client query the next node.
  const result = transactionJson
    .nullable()
    .transform((found) => (found === null ? undefined : recordOf(found, signature)))
  return { method: 'getTransaction', params: [signature, options], result }
}

/** Simultaneous requests with one proof share one call. */
function readShared(search: Search, query: Query): Promise<TransactionRecord | undefined> {
  const { running } = search.memory
  const key = `${query.signature} ${query.commitment}`
  const shared = running.get(key) ?? readAny(search, query).finally(() => running.delete(key))
  running.set(key, shared)
  return shared
}

/** Undefined if the first node that answers does not have the transaction. Throws a retryable fault if no node answers. */
export function readAny(search: RotationDeps, query: Pick<Query, 'signature' | 'commitment'>) {
  const { method, params, result } = question(query)
  return refusalIsFault(createRpcClient(search).call(method, params, result))
}

/** Queries only this node, so that nodes can be compared. */
export async function readFrom(
  search: RotationDeps,
  node: ChainNode,
  query: Pick<Query, 'signature' | 'commitment'>,
): Promise<TransactionRecord | undefined> {
  return refusalIsFault(callNode(search, node, question(query)))
}

/**
 * Finds a transaction that several nodes agree on. As many nodes must return the same record as must agree to end a
 * payment.
 */
async function findAgreed(search: Search, query: Query): Promise<Finding> {
  const { nodes, log } = search
  const { agreeingMin } = nodes
  const records: TransactionRecord[] = []
  for (const node of nodes.inRotation()) {
    const record = await readFrom(search, node, query).catch(() => undefined)
    if (record === undefined) continue
    const [first = record] = records
    if (digestOf(record) !== digestOf(first)) {
      log.error({ event: 'nodes_disagree', signature: query.signature, node: node.name })
      throw new Fault('two nodes return different records of the transaction', { retryable: true })
    }
    records.push(record)
    if (records.length >= agreeingMin) return foundBy(search, records.length, first)
  }
  const why = `${records.length} of the ${agreeingMin} nodes that have to agree return its record`
  return { kind: 'unknown', why, slot: records[0]?.slot ?? 0, isSeen: true, isAgreed: false }
}

/** Covers every part of a record that a verdict depends on. */
function digestOf({ bytes, movements, balances, ...record }: TransactionRecord): string {
  const text = (baseUnits: bigint) => baseUnits.toString()
  return sha256Hex(
    canonicalJson({
      ...record,
      blockTimeMs: record.blockTimeMs ?? null,
      failure: record.failure === undefined ? null : { ...record.failure },
      signers: [...record.signers],
      memos: [...record.memos],
      bytes: bytes === undefined ? null : Buffer.from(bytes).toString('base64'),
      movements: movements.map((movement) => ({ ...movement, amountBaseUnits: text(movement.amountBaseUnits) })),
      balances: balances.map((balance) => ({
        ...balance,
        ownersSeen: [...balance.ownersSeen],
        beforeBaseUnits: text(balance.beforeBaseUnits),
        afterBaseUnits: text(balance.afterBaseUnits),
      })),
    }),
  )
}
