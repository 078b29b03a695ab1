import { assertPresent } from '@tollbook/core/assert'
import type { Clock } from '@tollbook/core/clock'
import { randomBytesOf } from '@tollbook/core/id'
import type { ResolvedTransaction } from './accountKeys.ts'
import type { LookupFailure } from './addressLookupTable.ts'
import { Bank, type SimulationReport } from './bank.ts'
import type { BankState } from './bankState.ts'
import { byteKey } from './byteKey.ts'
import { ChainDatabase } from './chainDatabase.ts'
import type { ChainTransaction } from './chainTransaction.ts'
import type { ExecutionOutcome } from './executionOutcome.ts'
import type { HistoryEntry } from './history.ts'
import type { NodeBehaviour } from './nodeBehaviour.ts'
import { NodeHistory } from './nodeHistory.ts'
import type { TransportFailure } from './requestWatch.ts'
import { RpcError, rpcErrorCodes } from './rpcError.ts'
import { type Commitment, slotsUntil } from './slots.ts'
import { chargedLamports } from './tokenBalances.ts'

export interface ChainNodeDeps {
  readonly main: Bank
  readonly clock: Clock
}

/** Slots at which the node froze and left the main branch. Undefined while the node is not frozen, or not on a fork. */
interface Departure {
  readonly frozenSlot: number | undefined
  readonly forkSlot: number | undefined
}

/**
 * All methods over HTTP read the chain through this class; subscriptions read the main bank. A healthy node shows the
 * main bank by commitment, as Agave does: at `finalized`, clients read and simulate in the finalized slot.
 */
export class ChainNode {
  readonly #deps: ChainNodeDeps
  #behaviour: NodeBehaviour = {}
  #own: Bank | undefined
  readonly #claimed = new Map<string, HistoryEntry>()
  #departure: Departure = { frozenSlot: undefined, forkSlot: undefined }

  constructor(deps: ChainNodeDeps) {
    this.#deps = deps
    deps.main.listen({ slotReached: () => this.#own?.advanceSlots(1) })
  }

  get behaviour(): NodeBehaviour {
    return this.#behaviour
  }

  /** The main chain, or a separate chain for a fork or another genesis. */
  get bank(): Bank {
    return this.#own ?? this.#deps.main
  }

  /** Changes the behaviour at once. A node that begins to lag shows older slots than it showed before. */
  behave(behaviour: NodeBehaviour): void {
    const was = this.#behaviour
    this.#behaviour = behaviour
    if (behaviour.claimSends !== true) this.#claimed.clear()
    if (behaviour.fork !== was.fork || behaviour.otherGenesis !== was.otherGenesis) this.#own = this.#openOwnBank()
    const { current } = this.bank.slots
    // Freeze at the previous slot, because transactions may still land in the current slot.
    const slotsBack = Math.max(1, behaviour.lag ?? 0)
    const frozenSlot = behaviour.freeze === true ? (this.#departure.frozenSlot ?? current - slotsBack) : undefined
    const forkSlot = behaviour.fork === true ? (this.#departure.forkSlot ?? current) : undefined
    this.#departure = { frozenSlot, forkSlot }
  }

  slotAt(commitment: Commitment): number {
    const { current } = this.bank.slots
    const { frozenSlot, forkSlot } = this.#departure
    const processed = Math.min(frozenSlot ?? current - (this.#behaviour.lag ?? 0), current)
    const slot = processed - slotsUntil[commitment]
    // A fork has no majority of votes, so its slots never become final.
    const hasRoot = commitment !== 'finalized' || forkSlot === undefined
    return hasRoot ? slot : Math.min(slot, forkSlot - slotsUntil.finalized)
  }

  /** Slot in which transactions and blockhashes are checked. With `newestState`, this is the newest slot. */
  bankSlot(commitment: Commitment): number {
    return this.slotAt(this.#behaviour.newestState === true ? 'processed' : commitment)
  }

  commitmentOf(slot: number): Commitment {
    if (slot <= this.slotAt('finalized')) return 'finalized'
    return slot <= this.slotAt('confirmed') ? 'confirmed' : 'processed'
  }

  /** The `slot` of the result is the slot that the node states in its response. */
  state(commitment: Commitment): BankState {
    const slot = this.slotAt(commitment) - (this.#behaviour.accountLag ?? 0)
    return { ...this.bank.stateAt(this.#stateSlot(commitment)), slot }
  }

  get history(): NodeHistory {
    const { transactionLag = 0 } = this.#behaviour
    const newestSlot = (commitment: Commitment): number => this.slotAt(commitment) - transactionLag
    return new NodeHistory({ bank: this.bank, behaviour: this.#behaviour, newestSlot, claimed: this.#claimed })
  }

  resolve(transaction: ChainTransaction, commitment: Commitment): ResolvedTransaction | LookupFailure {
    return this.bank.resolve(transaction, this.#stateSlot(commitment))
  }

  refusal(transaction: ChainTransaction, commitment: Commitment): ReturnType<Bank['refusal']> {
    return this.bank.refusal(transaction, this.bankSlot(commitment))
  }

  isBlockhashValid(blockhash: string, commitment: Commitment): boolean {
    return this.bank.slots.isBlockhashValid(blockhash, this.bankSlot(commitment))
  }

  preflight(transaction: ResolvedTransaction, commitment: Commitment): ExecutionOutcome {
    return this.bank.preflight(transaction, this.#stateSlot(commitment))
  }

  simulate(transaction: ResolvedTransaction, commitment: Commitment, verifySignatures: boolean): SimulationReport {
    return this.bank.simulate(transaction, { slot: this.#stateSlot(commitment), verifySignatures })
  }

  /**
   * True if the node does not forward the transaction. With `claimSends`, records it, so that the node can report it as
   * landed.
   */
  withholds(transaction: ResolvedTransaction): boolean {
    const { dropSends, claimSends } = this.#behaviour
    if (claimSends === true && this.#claimed.size < claimedMax) this.#claim(transaction)
    return dropSends === true || claimSends === true
  }

  assertHealthy(): void {
    const { lag = 0 } = this.#behaviour
    if (lag < unhealthyLagSlots) return
    throw new RpcError(rpcErrorCodes.nodeUnhealthy, `Node is behind by ${lag} slots`, { numSlotsBehind: lag })
  }

  /** Undefined: no failure, as always for `localnet_` methods. */
  outage(method: string): TransportFailure | undefined {
    const { fail, only } = this.#behaviour
    const isAffected = !method.startsWith('localnet_') && (only === undefined || only.includes(method))
    return isAffected ? fail : undefined
  }

  #stateSlot(commitment: Commitment): number {
    return this.bankSlot(commitment) - (this.#behaviour.accountLag ?? 0)
  }

  #claim(transaction: ResolvedTransaction): void {
    const slot = this.bank.slots.current
    const signature = assertPresent(transaction.signatures[0], 'a sent transaction is signed')
    const { outcome, before, after } = this.bank.simulate(transaction, { slot, verifySignatures: false })
    const blockTimeSeconds = this.bank.blockTimeSeconds(slot) ?? this.bank.genesis.createdAtSeconds
    const record = {
      slot,
      blockTimeSeconds,
      transaction,
      outcome,
      before,
      after,
      feeLamports: chargedLamports(before, after),
    }
    this.#claimed.set(byteKey(signature), { position: 0, signature, slot, error: outcome.error, record: () => record })
  }

  #openOwnBank(): Bank | undefined {
    const { main, clock } = this.#deps
    const { fork, otherGenesis } = this.#behaviour
    if (fork === true) return main.branch()
    if (otherGenesis !== true) return undefined
    const genesis = { hash: randomBytesOf(32), createdAtSeconds: main.genesis.createdAtSeconds }
    // Start at the slot of the main chain, so that clients cannot recognize the other network by its slot.
    const { slotsPerEpoch, slots } = main
    const database = ChainDatabase.inMemory(genesis, slots.current)
    return new Bank({ database, clock, slotsPerEpoch, blockhashSlots: slots.blockhashSlots })
  }
}

const claimedMax = 10_000
/** Lag at which a node counts as unhealthy, in slots. This is the default of Agave's `--health-check-slot-distance`. */
const unhealthyLagSlots = 128
