import { assert, assertPresent } from '@tollbook/core/assert'
import { encodeBase58 } from '@tollbook/core/base58'
import type { Clock } from '@tollbook/core/clock'
import { randomBytesOf } from '@tollbook/core/id'
import { type ResolvedTransaction, resolveTransaction } from './accountKeys.ts'
import { type LookupFailure, loadAddresses } from './addressLookupTable.ts'
import { type BankState, bankStateAt } from './bankState.ts'
import { byteKey } from './byteKey.ts'
import type { ChainDatabase, Genesis } from './chainDatabase.ts'
import type { ChainTransaction } from './chainTransaction.ts'
import { namesStoredNonce } from './durableNonce.ts'
import type { ExecutionOutcome } from './executionOutcome.ts'
import { type Faucet, createFaucet } from './faucet.ts'
import type { History } from './history.ts'
import { Slots } from './slots.ts'
import { type AccountAt, type AccountState, type Svm, createSvm } from './svm.ts'
import { type Balances, chargedLamports, collectBalances } from './tokenBalances.ts'
import type { TransactionError } from './transactionError.ts'
import type { TransactionRecord } from './transactionRecord.ts'

/** Listeners may read the bank but must not change it. */
export interface BankListener {
  slotReached(): void
  landed?(): void
}

export interface SimulationReport {
  readonly transaction: ResolvedTransaction
  readonly outcome: ExecutionOutcome
  readonly before: Balances
  readonly after: Balances
  /** Written accounts after the transaction, by the `byteKey` of the address. */
  readonly accounts: ReadonlyMap<string, AccountState | undefined>
}

/** A point to which the chain can return. It becomes invalid when the chain returns to an earlier point. */
export interface ForkPoint {
  readonly slot: number
}

export interface BankDeps {
  readonly database: ChainDatabase
  readonly clock: Clock
  /** Absent: the bank starts from the database. */
  readonly origin?: BankOrigin
  /** Slots in one epoch. Default: 432,000, as on mainnet. */
  readonly slotsPerEpoch?: number
  readonly blockhashSlots?: number
}

/** Slot times are in seconds since 1970. */
interface BankOrigin {
  readonly snapshot: Uint8Array
  readonly slotTimes: ReadonlyMap<number, number>
}

export interface SimulateOptions {
  readonly slot: number
  readonly verifySignatures: boolean
}

export const lagSlotsMax = 512

/** Slots in one epoch on mainnet, which takes two days. */
const mainnetSlotsPerEpoch = 432_000

/**
 * The bank does not depend on JSON or sockets. The engine has only the newest state, and the database has the older
 * states.
 */
export class Bank {
  readonly genesis: Genesis
  readonly slots: Slots
  readonly history: History
  readonly slotsPerEpoch: number
  #svm: Svm
  readonly #database: ChainDatabase
  readonly #clock: Clock
  readonly #faucet: Faucet
  readonly #listeners = new Set<BankListener>()
  readonly #slotTimes = new Map<number, number>()
  readonly #forks = new Map<ForkPoint, ForkState>()
  /** Slot of the engine's sysvars. The bank sets them only before a use, because setting them is slow. */
  #engineSlot = 0

  constructor({ database, clock, origin, slotsPerEpoch = mainnetSlotsPerEpoch, blockhashSlots }: BankDeps) {
    this.slotsPerEpoch = slotsPerEpoch
    this.genesis = database.genesis
    this.slots = new Slots(database.firstSlot, database.branches(), blockhashSlots)
    this.history = database.history
    this.#database = database
    this.#clock = clock
    this.#faucet = createFaucet(database.genesis.hash)
    for (const [slot, seconds] of origin?.slotTimes ?? []) this.#slotTimes.set(slot, seconds)
    this.#svm = createSvm(this.#epochs(), origin?.snapshot)
    if (origin === undefined) this.#restore()
    this.#noteSlot()
  }

  /** The returned function removes the listener. */
  listen(listener: BankListener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  stateAt(slot: number): BankState {
    return bankStateAt({ slot, engine: this.#engine(), states: this.#database.accounts })
  }

  rentExemptLamports(dataLength: number): bigint {
    return this.#svm.rentExemptLamports(dataLength)
  }

  /** Undefined for an old slot without a transaction, because only the newest slot times are stored. */
  blockTimeSeconds(slot: number): number | undefined {
    return this.#slotTimes.get(slot) ?? this.history.timeOfSlotSeconds(slot)
  }

  resolve(transaction: ChainTransaction, slot: number): ResolvedTransaction | LookupFailure {
    const { account } = this.stateAt(slot)
    const loaded = loadAddresses(transaction.message, account)
    return typeof loaded === 'string' ? loaded : resolveTransaction(transaction, loaded)
  }

  /** Returns why the transaction cannot execute in the slot. Undefined if it can execute, even if it would then fail. */
  refusal(transaction: ChainTransaction, slot: number): 'AlreadyProcessed' | 'BlockhashNotFound' | undefined {
    const landedSlot = this.history.slotOfMessage(transaction.messageBytes)
    if (landedSlot !== undefined && landedSlot <= slot) return 'AlreadyProcessed'
    const blockhash = encodeBase58(transaction.message.recentBlockhash)
    if (this.slots.isBlockhashValid(blockhash, slot)) return undefined
    return namesStoredNonce(transaction.message, this.stateAt(slot).account) ? undefined : 'BlockhashNotFound'
  }

  /** Simulates with verified signatures, as a node does before it forwards a transaction. */
  preflight(transaction: ResolvedTransaction, slot: number): ExecutionOutcome {
    return this.#inSlot({ slot, transaction }, (engine) => {
      engine.verifySignatures(true)
      return engine.simulate(transaction.wire).outcome
    })
  }

  simulate(transaction: ResolvedTransaction, { slot, verifySignatures }: SimulateOptions): SimulationReport {
    return this.#inSlot({ slot, transaction }, (engine) => {
      engine.verifySignatures(verifySignatures)
      const before = collectBalances(transaction, engine)
      const { outcome, accounts: written } = engine.simulate(transaction.wire)
      const accounts = new Map(written.map(({ address, state }) => [byteKey(address), state]))
      const account = (address: Uint8Array): AccountState | undefined => {
        const key = byteKey(address)
        return accounts.has(key) ? accounts.get(key) : engine.account(address)
      }
      const lamports = (address: Uint8Array): bigint => account(address)?.lamports ?? 0n
      return { transaction, outcome, before, after: collectBalances(transaction, { account, lamports }), accounts }
    })
  }

  /**
   * Executes the transaction, and records it if a fee was charged, even if it failed. Without a fee, for example
   * because the payer does not exist, nothing is recorded, as if a leader had dropped the transaction.
   */
  execute(transaction: ResolvedTransaction, verifySignatures: boolean): TransactionError | null {
    assert(this.refusal(transaction, this.slots.current) === undefined, 'only a transaction that may land is executed')
    this.#database.assertWritable()
    const engine = this.#engine()
    engine.verifySignatures(verifySignatures)
    const before = collectBalances(transaction, engine)
    const outcome = engine.execute(transaction.wire)
    const after = collectBalances(transaction, engine)
    const feeLamports = chargedLamports(before, after)
    if (feeLamports > 0n) this.#keep({ transaction, outcome, feeLamports, before, after })
    return outcome.error
  }

  airdrop(to: Uint8Array, lamports: bigint): Uint8Array {
    const blockhash = this.slots.blockhashOf(this.slots.current)
    const request = { to, lamports, blockhash, serial: this.#database.position }
    const transaction = resolveTransaction(this.#faucet.airdrop(request), { writable: [], readonly: [] })
    this.execute(transaction, false)
    return assertPresent(transaction.signatures[0], 'the faucet signs')
  }

  addProgram(address: Uint8Array, elf: Uint8Array): void {
    // Load the program into the engine first, because the engine refuses bytes that are not a program. The database
    // must contain only programs that the engine can load.
    this.#engine().addProgram(address, elf)
    this.#database.addProgram({ address, elf })
  }

  /** The account is rent-exempt. Does nothing if the account exists. */
  placeAccount(address: Uint8Array, { owner, data }: Pick<AccountState, 'owner' | 'data'>): void {
    const engine = this.#engine()
    if (engine.account(address) !== undefined) return
    const lamports = engine.rentExemptLamports(data.length)
    const account = { address, state: { lamports, owner, data, executable: false } }
    engine.setAccount(account)
    this.#database.place(account, this.slots.current)
  }

  advanceSlots(count: number): void {
    // Write the slot to disk before notifying listeners, so that no client sees a slot that a restart would undo.
    this.#database.slotReached(this.slots.current + count)
    for (let step = 0; step < count; step++) {
      this.slots.advance()
      this.#noteSlot()
      for (const listener of this.#listeners) listener.slotReached()
    }
  }

  markFork(): ForkPoint {
    const point = { slot: this.slots.current }
    this.#forks.set(point, { snapshot: this.#engine().snapshot(), position: this.#database.position })
    return point
  }

  dropFork(point: ForkPoint): void {
    const fork = assertPresent(this.#forks.get(point), 'the fork point is one of this chain and was not dropped itself')
    const salt = randomBytesOf(32)
    this.#database.dropFrom(fork.position, { slot: point.slot, salt })
    this.#forgetForksAfter(point)
    this.slots.branchAt(point.slot, salt)
    if (!this.#slotTimes.has(point.slot)) this.#noteSlot()
    this.#svm = createSvm(this.#epochs(), fork.snapshot)
    this.#engineSlot = 0
  }

  /** Returns an independent chain with the same past, in memory. Its next slots have other blockhashes. */
  branch(): Bank {
    const { current, blockhashSlots } = this.slots
    const database = this.#database.branch({ slot: current, salt: randomBytesOf(32) })
    const origin = { snapshot: this.#engine().snapshot(), slotTimes: this.#slotTimes }
    return new Bank({ database, clock: this.#clock, origin, slotsPerEpoch: this.slotsPerEpoch, blockhashSlots })
  }

  /** Loads the stored accounts and programs into the engine. Creates the faucet's account on a new chain. */
  #restore(): void {
    const { accounts } = this.#database
    const { account } = this.#faucet
    if (accounts.changedSlot(account.address) === undefined) this.#database.place(account, 0)
    for (const { address, elf } of this.#database.programs()) this.#svm.addProgram(address, elf)
    for (const each of executableLast(accounts.all())) this.#svm.setAccount(each)
  }

  #keep(executed: Omit<TransactionRecord, 'slot' | 'blockTimeSeconds'>): void {
    const slot = this.slots.current
    const blockTimeSeconds = assertPresent(this.#slotTimes.get(slot), 'the current slot has a time')
    const record = { slot, blockTimeSeconds, ...executed }
    const changed = executed.transaction.keys
      .filter(({ writable }) => writable)
      .map(({ address }) => ({ address, state: this.#svm.account(address) }))
    this.#database.land(record, changed)
    for (const listener of this.#listeners) listener.landed?.()
  }

  #engine(): Svm {
    const slot = this.slots.current
    if (this.#engineSlot !== slot) {
      const timeSeconds = assertPresent(this.#slotTimes.get(slot), 'the current slot has a time')
      this.#svm.setSlot({ slot, timeSeconds, slotHashes: this.slots.slotHashes() })
      this.#engineSlot = slot
    }
    return this.#svm
  }

  /**
   * Calls `run` while the engine has the transaction's accounts and the Clock of an older slot, then restores the
   * newest. The runtime also reads programs, which do not change, and SlotHashes, which stay at the newest slot.
   */
  #inSlot<T>({ slot, transaction }: { slot: number; transaction: ResolvedTransaction }, run: (engine: Svm) => T): T {
    const engine = this.#engine()
    if (slot === this.slots.current) return run(engine)
    const { accounts } = this.#database
    const changed = transaction.keys.filter(({ address }) => (accounts.changedSlot(address) ?? 0) > slot)
    const older = changed.map(({ address }) => ({ address, state: accounts.at(address, slot) }))
    const newest = changed.map(({ address }) => ({ address, state: engine.account(address) }))
    for (const account of older) engine.setAccount(account)
    engine.setClock({ slot, timeSeconds: this.blockTimeSeconds(slot) ?? this.genesis.createdAtSeconds })
    try {
      return run(engine)
    } finally {
      for (const account of newest) engine.setAccount(account)
      const current = this.slots.current
      engine.setClock({ slot: current, timeSeconds: assertPresent(this.#slotTimes.get(current), 'it has a time') })
    }
  }

  /** Notes the time of the current slot in whole seconds, because this is the block time of its transactions. */
  #noteSlot(): void {
    this.#slotTimes.set(this.slots.current, Math.floor(this.#clock.nowMs() / 1_000))
    this.#slotTimes.delete(this.slots.current - slotTimesMax)
  }

  /** Forgets the later points, because they belong to the part of the chain that is dropped. */
  #forgetForksAfter(point: ForkPoint): void {
    let found = false
    for (const each of this.#forks.keys()) {
      if (found) this.#forks.delete(each)
      found ||= each === point
    }
  }

  #epochs(): { readonly slotsPerEpoch: number; readonly startedAtSeconds: number } {
    return { slotsPerEpoch: this.slotsPerEpoch, startedAtSeconds: this.genesis.createdAtSeconds }
  }
}

interface ForkState {
  readonly snapshot: Uint8Array
  readonly position: number
}

/**
 * Sorts executable accounts last, because the engine links a program when its account is set, and needs the account
 * that contains its code.
 */
function executableLast(accounts: Iterable<AccountAt>): AccountAt[] {
  const rank = ({ state }: AccountAt): number => (state?.executable === true ? 1 : 0)
  return [...accounts].sort((one, other) => rank(one) - rank(other))
}

/** Maximum of stored slot times: a little over one hour. Older slots without a transaction have no block time. */
const slotTimesMax = 10_000
