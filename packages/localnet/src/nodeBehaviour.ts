import { z } from 'zod'
import { decodeBase58 } from '@tollbook/core/base58'
import { lagSlotsMax } from './bank.ts'

const signature = z
  .string()
  .max(88)
  .refine((text) => decodeBase58(text, 64) !== undefined, 'must be a base58 signature of 64 bytes')
const slots = z.int().min(0).max(lagSlotsMax)

/** All members are optional. A node without any of them is healthy. */
export const nodeBehaviour = z
  .strictObject({
    /** The node uses the newest accounts, simulations and blockhashes at every commitment. No real node does this. */
    newestState: z.boolean().optional(),
    /** Number of slots that the whole node is behind the chain. */
    lag: slots.optional(),
    /** The node's slot does not advance, but the node still responds. */
    freeze: z.boolean().optional(),
    /** The node continues on a separate branch, which never becomes final. */
    fork: z.boolean().optional(),
    /** The node belongs to another network that has just started. */
    otherGenesis: z.boolean().optional(),
    /** Number of slots that accounts and simulations are behind the node's slot. */
    accountLag: slots.optional(),
    /** Number of slots that transactions and statuses are behind the node's slot. */
    transactionLag: slots.optional(),
    /** Number of recent slots whose transactions the node stores. Statuses of recent slots stay available. */
    historySlots: z.int().min(0).max(1_000_000).optional(),
    /** The node stores no transactions and returns the error -32011 for them. */
    noHistory: z.boolean().optional(),
    /** The node returns null for each transaction and each status. */
    nullAnswers: z.boolean().optional(),
    /** Signatures of transactions that the node hides. */
    hide: z.array(signature).max(100).readonly().optional(),
    /** Signature of a transaction. The node returns the record of this transaction for every unknown signature. */
    forge: signature.optional(),
    /** Percentage of the true token amounts that the node reports for each transaction. */
    amounts: z.int().min(0).max(1_000).optional(),
    /** The node reports each transaction as failed without effect. */
    failRecords: z.boolean().optional(),
    /** The node accepts sent transactions but does not forward them. */
    dropSends: z.boolean().optional(),
    /** The node does not forward sent transactions, but reports them as landed, with simulated effects. */
    claimSends: z.boolean().optional(),
    /** Way in which requests fail. */
    fail: z.enum(['hang', 'disconnect', 'unavailable', 'tooManyRequests']).optional(),
    /** Methods to which `fail` applies. Absent: all methods. */
    only: z.array(z.string().max(100)).max(100).readonly().optional(),
  })
  .refine(({ fork, otherGenesis }) => fork !== true || otherGenesis !== true, 'a node of another network has no fork')

export type NodeBehaviour = z.input<typeof nodeBehaviour>

const healthyWord = 'healthy'
const listOptions: ReadonlySet<string> = new Set(['hide', 'only'])
const numberOptions: ReadonlySet<string> = new Set(['lag', 'accountLag', 'transactionLag', 'historySlots', 'amounts'])

/** Parses options such as `lag=12,freeze` from the command line. Throws an Error that describes the problem. */
export function readNodeBehaviour(text: string): NodeBehaviour {
  const words = text.split(',').filter((word) => word !== '' && word !== healthyWord)
  const parsed = nodeBehaviour.safeParse(Object.fromEntries(words.map(readOption)))
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new Error(`${issue?.path.join('.') ?? ''}${issue?.path.length === 0 ? '' : ': '}${issue?.message ?? ''}`)
}

function readOption(word: string): [string, unknown] {
  const [name = '', ...rest] = word.split('=')
  const option = camelCase(name)
  const value = rest.join('=')
  if (rest.length === 0) return [option, true]
  if (listOptions.has(option)) return [option, value.split('+')]
  return [option, numberOptions.has(option) ? Number(value) : camelCase(value)]
}

function camelCase(name: string): string {
  return name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

export const nodeBehaviourHelp = `
Options of --node, separated by commas ("lag=12,fail=hang,only=getTransaction"; "healthy" for none of them):
  newest-state           accounts, simulations and blockhashes are the newest at every commitment
  lag=SLOTS              the node is behind by this many slots, in everything
  freeze                 its slot stands still; it goes on answering
  fork                   it continues on a separate branch, which never becomes final
  other-genesis          it belongs to another network
  account-lag=SLOTS      accounts and simulations are behind the node's slot
  transaction-lag=SLOTS  transactions and statuses are behind the node's slot
  history-slots=SLOTS    older transactions are not stored
  no-history             no transactions are stored, and the node says so (-32011)
  null-answers           each transaction and each status is null
  hide=SIGNATURE+...     these transactions are denied
  forge=SIGNATURE        unknown signatures are answered with this transaction's record
  amounts=PERCENT        token amounts of transactions are changed
  fail-records           each transaction is said to have failed without an effect
  drop-sends             sent transactions are accepted and go nowhere
  claim-sends            sent transactions go nowhere and are claimed to have landed
  fail=HOW               hang, disconnect, unavailable (HTTP 503) or too-many-requests (HTTP 429)
  only=METHOD+...        the methods to which fail= is limited

Over JSON-RPC, at any node: localnet_nodes [], localnet_setNode [INDEX, {"lag": 12, "otherGenesis": true}],
localnet_requestCounts [INDEX].`
