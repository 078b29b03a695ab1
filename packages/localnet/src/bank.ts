import { assert, assertPresent } from '@tollbook/core/assert'
import { encodeBase58 } from '@tollbook/core/base58'
import type { Clock } from '@tollbook/core/clock'
import { randomBytesOf } from '@tollbook/core/id'
import { AccountHistory } from './accountHistory.ts'
import { type ResolvedTransaction, resolveTransaction } from './accountKeys.ts'
import { type LookupFailure, loadAddresses } from './addressLookupTable.ts'
import { type BankState, bankStateAt } from './bankState.ts'
import { byteKey } from './byteKey.ts'
import { type ChainStore, type OpenedChain, openMemoryStore } from './chainStore.ts'
import type { ChainTransaction } from './chainTransaction.ts'
import { namesStoredNonce } from './durableNonce.ts'
import type { ExecutionOutcome } from './executionOutcome.ts'
import { type Faucet, createFaucet } from './faucet.ts'
import type { History } from './history.ts'
import type { PlacedAccount } from './givenAccount.ts'
import type { Genesis } from './journalEntry.ts'
import { Slots, slotsUntil } from './slots.ts'
import { type AccountAt, type AccountState, type Svm, createSvm } from './svm.ts'
import { type Balances, chargedLamports, collectBalances } from './tokenBalances.ts'
import { TokenAccountIndex } from './tokenAccountIndex.ts'
import type { TransactionError } from './transactionError.ts'
import { type TransactionRecord, encodeRecord } from './transactionRecord.ts'

/** The bank calls a listener after a change. The listener may read the bank but must not change it. */
export interface BankListener {
  slotReached(): void
  /** A transaction has landed. */
  landed?(): void
}

export interface SimulationReport {
  readonly transaction: ResolvedTransaction
  readonly outcome: ExecutionOutcome
  readonly before: Balances
  readonly after: Balances
  /** The accounts by address, as they are after the transaction. */
  readonly accounts: ReadonlyMap<string, AccountState | undefined>
}

/** A point to which the chain can return. It is valid until the chain returns to an earlier point. */
export interface ForkPoint {
  readonly slot: number
}

export interface BankDeps {
  readonly opened: OpenedChain
  readonly clock: Clock
  /** Origin of the bank from which this one branches. */
  readonly origin?: BankOrigin
  /** Default: mainnet's numbers. */
  readonly slotsPerEpoch?: number
  readonly blockhashSlots?: number
}

/** Start of a branch: the engine's state, older states of accounts and the times of the preceding slots. */
interface BankOrigin {
  readonly snapshot: Uint8Array
  readonly older: AccountHistory
  readonly slotTimes: ReadonlyMap<number, number>
}

/** Options for a dry run in the state of a slot. */
export interface SimulateOptions {
  readonly slot: number
  readonly verifySignatures: boolean
}

/** Maximum lag of a node. The bank keeps states of accounts for this many slots, plus those until finality. */
export const lagSlotsMax = 512

/** Two days of slots. Few local chains reach their second epoch. */
const mainnetSlotsPerEpoch = 432_000

/**
 * The chain itself: a sequence of slots on one engine, with all landed transactions. It does not depend on JSON or
 * sockets. The engine has only the newest state; the history of accounts has the older ones.
 */
export class Bank {
  readonly genesis: Genesis
  readonly slots: Slots
  readonly history: History
  readonly tokenAccounts = new TokenAccountIndex()
  readonly slotsPerEpoch: number
  #svm: Svm
  readonly #store: ChainStore
  readonly #clock: Clock
  readonly #faucet: Faucet
  readonly #listeners = new Set<BankListener>()
  readonly #slotTimes = new Map<number, number>()
  readonly #forks = new Map<ForkPoint, ForkState>()
  readonly #older: AccountHistory
  /** Slots whose states stay readable at any age, because a frozen node shows them. */
  readonly #pins = new Set<{ readonly slot: number }>()
  /** Slot of the engine's sysvars. Setting them takes 0.2 ms, so they are set only before a read. */
  #engineSlot = 0

  constructor({ opened: { store, restored }, clock, origin, slotsPerEpoch = mainnetSlotsPerEpoch, ...more }: BankDeps) {
    this.slotsPerEpoch = slotsPerEpoch
    this.genesis = restored.genesis
    this.slots = new Slots(restored.slot, restored.branches, more.blockhashSlots)
    this.history = restored.history
    this.#store = store
    this.#clock = clock
    this.#faucet = createFaucet(restored.genesis.hash)
    this.#older = origin?.older ?? new AccountHistory()
    for (const [slot, seconds] of origin?.slotTimes ?? []) this.#slotTimes.set(slot, seconds)
    this.#svm = createSvm(this.#epochs(), origin?.snapshot)
    if (origin === undefined) this.#svm.setAccount(this.#faucet.account)
    for (const { address, elf } of restored.programs) this.#svm.addProgram(address, elf)
    for (const account of executableLast(restored.accounts)) this.#svm.setAccount(account)
    this.tokenAccounts.rebuild(this.#svm)
    this.#noteSlot()
    this.#store.slotReached(this.slots.current)
  }

  /** Calls the listener until the returned function is called. */
  listen(listener: BankListener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** All accounts at the end of the slot. */
  stateAt(slot: number): BankState {
    return bankStateAt({ slot, engine: this.#engine(), older: this.#older, tokenAccounts: this.tokenAccounts })
  }

  /** Keeps the states of the slot until the returned function is called. */
  pin(slot: number): () => void {
    const pin = { slot }
    this.#pins.add(pin)
    return () => void this.#pins.delete(pin)
  }

  rentExemptLamports(dataLength: number): bigint {
    return this.#svm.rentExemptLamports(dataLength)
  }

  /** Start of the slot in seconds since 1970. Undefined for an old slot without a transaction. */
  blockTimeSeconds(slot: number): number | undefined {
    return this.#slotTimes.get(slot) ?? this.history.inSlot(slot)[0]?.record().blockTimeSeconds
  }

  /** Loads the addresses of a v0 transaction from its lookup tables as of the slot. */
  resolve(transaction: ChainTransaction, slot: number): ResolvedTransaction | LookupFailure {
    const { account } = this.stateAt(slot)
    const loaded = loadAddresses(transaction.message, account)
    return typeof loaded === 'string' ? loaded : resolveTransaction(transaction, loaded)
  }

  /** Reason why the transaction cannot execute in the slot, whatever its effects. Undefined if it can. */
  refusal(transaction: ChainTransaction, slot: number): 'AlreadyProcessed' | 'BlockhashNotFound' | undefined {
    const landedSlot = this.history.slotOfMessage(transaction.messageBytes)
    if (landedSlot !== undefined && landedSlot <= slot) return 'AlreadyProcessed'
    const blockhash = encodeBase58(transaction.message.recentBlockhash)
    if (this.slots.isBlockhashValid(blockhash, slot)) return undefined
    return namesStoredNonce(transaction.message, this.stateAt(slot).account) ? undefined : 'BlockhashNotFound'
  }

  /**
   * Executes with a check of the signatures and without keeping the result, as a node does before it forwards a
   * transaction.
   */
  preflight(transaction: ResolvedTransaction, slot: number): ExecutionOutcome {
    return this.#inSlot({ slot, transaction }, (engine) => {
      engine.verifySignatures(true)
      return engine.simulate(transaction.wire).outcome
    })
  }

  /** Executes without keeping the result, and reports all effects. */
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
   * Executes and commits. A transaction that charged no fee did not land, for example without a payer. Its error is
   * returned and nothing is recorded, as if a leader had dropped it. One that charged a fee is recorded, failed or
   * not.
   */
  execute(transaction: ResolvedTransaction, verifySignatures: boolean): TransactionError | null {
    assert(this.refusal(transaction, this.slots.current) === undefined, 'only a transaction that may land is executed')
    this.#store.assertWritable()
    const engine = this.#engine()
    engine.verifySignatures(verifySignatures)
    const states = transaction.keys.map(({ address, writable }) => (writable ? this.#newest(address) : undefined))
    const before = collectBalances(transaction, engine)
    const outcome = engine.execute(transaction.wire)
    const after = collectBalances(transaction, engine)
    const feeLamports = chargedLamports(before, after)
    if (feeLamports > 0n) this.#keep({ transaction, outcome, feeLamports, before, after }, states)
    return outcome.error
  }

  airdrop(to: Uint8Array, lamports: bigint): Uint8Array {
    const blockhash = this.slots.blockhashOf(this.slots.current)
    const request = { to, lamports, blockhash, serial: this.history.length }
    const transaction = resolveTransaction(this.#faucet.airdrop(request), { writable: [], readonly: [] })
    this.execute(transaction, false)
    return assertPresent(transaction.signatures[0], 'the faucet signs')
  }

  addProgram(address: Uint8Array, elf: Uint8Array): void {
    // Load the program into the engine first, because the engine refuses bytes that are not a program. The journal must
    // only contain entries that replay.
    this.#engine().addProgram(address, elf)
    this.#store.append({ kind: 'program', address, elf })
  }

  /** Creates an account without a transaction, if no account has its address. */
  placeAccount({ address, owner, data }: PlacedAccount): void {
    const engine = this.#engine()
    if (engine.account(address) !== undefined) return
    const lamports = engine.rentExemptLamports(data.length)
    const account = { address, state: { lamports, owner, data, executable: false } }
    engine.setAccount(account)
    this.#older.note({ slot: this.slots.current, address, before: undefined, after: account.state })
    this.#store.append({ kind: 'account', account })
    this.tokenAccounts.update(account)
  }

  advanceSlots(count: number): void {
    // Write to disk before notifying any listener, so that no client sees a slot that a restart would undo.
    this.#store.slotReached(this.slots.current + count)
    for (let step = 0; step < count; step++) {
      this.slots.advance()
      this.#noteSlot()
      this.#forgetOldStates()
      for (const listener of this.#listeners) listener.slotReached()
    }
  }

  markFork(): ForkPoint {
    const point = { slot: this.slots.current }
    const state = { snapshot: this.#engine().snapshot(), historyLength: this.history.length }
    this.#forks.set(point, { ...state, journalPosition: this.#store.position() })
    return point
  }

  dropFork(point: ForkPoint): void {
    const fork = assertPresent(this.#forks.get(point), 'the fork point is one of this chain and was not dropped itself')
    const salt = randomBytesOf(32)
    this.#store.dropFrom(fork.journalPosition)
    this.#store.append({ kind: 'branch', branch: { fromSlot: point.slot + 1, salt } })
    this.#store.slotReached(point.slot)
    this.#forgetForksAfter(point)
    this.history.truncate(fork.historyLength)
    this.slots.branchAt(point.slot, salt)
    if (!this.#slotTimes.has(point.slot)) this.#noteSlot()
    this.#svm = createSvm(this.#epochs(), fork.snapshot)
    this.#engineSlot = 0
    this.#older.truncate(point.slot, (address) => this.#svm.account(address))
    this.tokenAccounts.rebuild(this.#svm)
  }

  /** Returns an independent chain with the same past. It is not stored, and its next slots have other blockhashes. */
  branch(): Bank {
    const { current, branches, blockhashSlots } = this.slots
    const { store } = openMemoryStore(this.genesis)
    const past = { slot: current, history: this.history.copy(), programs: [], accounts: [] }
    const branch = { fromSlot: current + 1, salt: randomBytesOf(32) }
    const restored = { genesis: this.genesis, branches: [...branches, branch], ...past }
    const origin = {
      snapshot: this.#engine().snapshot(),
      older: this.#older.copy(),
      slotTimes: new Map(this.#slotTimes),
    }
    const { slotsPerEpoch } = this
    return new Bank({ opened: { store, restored }, clock: this.#clock, origin, slotsPerEpoch, blockhashSlots })
  }

  /** Records a landed transaction. `before` has the states of its writable accounts, by their index among the keys. */
  #keep(
    executed: Omit<TransactionRecord, 'slot' | 'blockTimeSeconds'>,
    before: readonly (AccountState | undefined)[],
  ): void {
    const slot = this.slots.current
    const blockTimeSeconds = assertPresent(this.#slotTimes.get(slot), 'the current slot has a time')
    const record = { slot, blockTimeSeconds, ...executed }
    const changed: AccountAt[] = []
    for (const [index, { address, writable }] of executed.transaction.keys.entries()) {
      if (!writable) continue
      const after = this.#svm.account(address)
      changed.push({ address, state: after })
      this.#older.note({ slot, address, before: before[index], after })
    }
    const bytes = encodeRecord(record)
    this.#store.append({ kind: 'landed', record: bytes, changed })
    this.history.append(record, bytes)
    for (const account of changed) this.tokenAccounts.update(account)
    for (const listener of this.#listeners) listener.landed?.()
  }

  /** Returns the engine with its clock and slot hashes at the current slot. */
  #engine(): Svm {
    const slot = this.slots.current
    if (this.#engineSlot !== slot) {
      const timeSeconds = assertPresent(this.#slotTimes.get(slot), 'the current slot has a time')
      this.#svm.setSlot({ slot, timeSeconds, slotHashes: this.slots.slotHashes() })
      this.#engineSlot = slot
    }
    return this.#svm
  }

  #newest(address: Uint8Array): AccountState | undefined {
    const known = this.#older.newest(address)
    return known === undefined ? this.#svm.account(address) : known.state
  }

  /**
   * Runs with the transaction's accounts and the Clock as of the slot. Besides them the runtime reads only programs,
   * which do not change, and SlotHashes, which stay the newest.
   */
  #inSlot<T>({ slot, transaction }: { slot: number; transaction: ResolvedTransaction }, run: (engine: Svm) => T): T {
    const engine = this.#engine()
    if (slot === this.slots.current) return run(engine)
    const older = transaction.keys.flatMap(({ address }) => {
      const known = this.#older.at(address, slot)
      return known === undefined || known === this.#older.newest(address) ? [] : [{ address, state: known.state }]
    })
    const newest = older.map(({ address }) => ({ address, state: this.#newest(address) }))
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

  #forgetOldStates(): void {
    const oldest = this.slots.current - lagSlotsMax - slotsUntil.finalized
    const pinned = [...this.#pins].map(({ slot }) => slot - slotsUntil.finalized)
    this.#older.prune(Math.min(oldest, ...pinned))
  }

  /**
   * Records the time of the slot in whole seconds, as in the Clock sysvar. It is the block time of the slot's
   * transactions.
   */
  #noteSlot(): void {
    this.#slotTimes.set(this.slots.current, Math.floor(this.#clock.nowMs() / 1_000))
    this.#slotTimes.delete(this.slots.current - slotTimesMax)
  }

  /**
   * Removes fork points marked after this one, because they are in the dropped part. The map is in the order of
   * marking.
   */
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
  readonly historyLength: number
  readonly journalPosition: number
}

/**
 * Sorts executable accounts last. The engine links a program when its account is set, and needs the account with its
 * code by then.
 */
function executableLast(accounts: Iterable<AccountAt>): AccountAt[] {
  const rank = ({ state }: AccountAt): number => (state?.executable === true ? 1 : 0)
  return [...accounts].sort((one, other) => rank(one) - rank(other))
}

/** A little over an hour of slots. Older slots without a transaction have no block time. */
const slotTimesMax = 10_000
