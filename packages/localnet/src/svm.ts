import { Account, Clock, EpochSchedule, FailedTransactionMetadata, LiteSvm } from 'litesvm/dist/internal.js'
import { type ExecutionOutcome, outcomeOf } from './executionOutcome.ts'

/*
 * The engine: litesvm, which runs transactions in the real Agave runtime with the real program binaries. Only litesvm's
 * inner module takes the wire bytes of a transaction. The native part aborts the process on a malformed transaction or
 * an address that is not 32 bytes, so callers must parse first. The engine's blockhash window and history are switched
 * off, because their form does not fit this chain.
 */

/** Omits the rent epoch, because litesvm returns 0 for every account. */
export interface AccountState {
  readonly lamports: bigint
  readonly owner: Uint8Array
  readonly data: Uint8Array
  readonly executable: boolean
}

export interface AccountAt {
  readonly address: Uint8Array
  /** Undefined if the account does not exist any more. */
  readonly state: AccountState | undefined
}

export interface Simulation {
  readonly outcome: ExecutionOutcome
  /** Writable accounts after the transaction. Empty if the transaction fails. */
  readonly accounts: readonly AccountAt[]
}

/** These values become the sysvars Clock and SlotHashes. */
export interface SlotState {
  readonly slot: number
  readonly timeSeconds: number
  /** Hashes of the preceding slots, newest first. */
  readonly slotHashes: readonly { readonly slot: number; readonly hash: string }[]
}

/** Takes bytes and returns plain data, so that callers do not depend on litesvm. */
export interface Svm {
  execute(wire: Uint8Array): ExecutionOutcome
  simulate(wire: Uint8Array): Simulation
  verifySignatures(on: boolean): void
  account(address: Uint8Array): AccountState | undefined
  lamports(address: Uint8Array): bigint
  accountsOwnedBy(program: Uint8Array): readonly AccountAt[]
  setAccount(account: AccountAt): void
  setSlot(state: SlotState): void
  /** Sets only Clock, because setting SlotHashes too is slow. */
  setClock(state: Pick<SlotState, 'slot' | 'timeSeconds'>): void
  addProgram(address: Uint8Array, elf: Uint8Array): void
  rentExemptLamports(dataLength: number): bigint
  /** Returns a snapshot of more than a megabyte. */
  snapshot(): Uint8Array
}

export interface EpochTimes {
  readonly slotsPerEpoch: number
  readonly startedAtSeconds: number
}

export function createSvm(epochs: EpochTimes, snapshot?: Uint8Array): Svm {
  const engine = snapshot === undefined ? freshEngine(epochs) : LiteSvm.fromBytes(snapshot)
  engine.setBlockhashCheck(false)
  engine.setTransactionHistory(0n)
  return {
    execute: (wire) => outcomeOf(engine.sendVersionedTransaction(wire)),
    simulate: (wire) => simulate(engine, wire),
    verifySignatures: (on) => engine.setSigverify(on),
    account: (address) => stateOf(engine.getAccount(address)),
    lamports: (address) => engine.getBalance(address) ?? 0n,
    accountsOwnedBy: (program) => engine.getProgramAccounts(program).map(accountAt),
    setAccount: ({ address, state }) => engine.setAccount(address, accountOf(state)),
    setSlot: (state) => setSlot(engine, state, epochs),
    setClock: (state) => setClock(engine, state, epochs),
    addProgram: (address, elf) => engine.addProgram(address, elf),
    rentExemptLamports: (dataLength) => engine.minimumBalanceForRentExemption(BigInt(dataLength)),
    snapshot: () => engine.toBytes(),
  }
}

function freshEngine(epochs: EpochTimes): LiteSvm {
  const engine = new LiteSvm()
  engine.withNativeMints()
  const slotsPerEpoch = BigInt(epochs.slotsPerEpoch)
  // Disable the warm-up, so that all epochs have the same length and epoch numbers are a division.
  engine.setEpochSchedule(new EpochSchedule(slotsPerEpoch, slotsPerEpoch, false, 0n, 0n))
  return engine
}

function simulate(engine: LiteSvm, wire: Uint8Array): Simulation {
  const result = engine.simulateVersionedTransaction(wire)
  if (result instanceof FailedTransactionMetadata) return { outcome: outcomeOf(result), accounts: [] }
  return { outcome: outcomeOf(result.meta()), accounts: result.postAccounts().map(accountAt) }
}

function setClock(engine: LiteSvm, { slot, timeSeconds }: Omit<SlotState, 'slotHashes'>, epochs: EpochTimes): void {
  const epoch = BigInt(Math.floor(slot / epochs.slotsPerEpoch))
  const startedAt = BigInt(epochs.startedAtSeconds)
  engine.setClock(new Clock(BigInt(slot), startedAt, epoch, epoch + 1n, BigInt(timeSeconds)))
}

function setSlot(engine: LiteSvm, state: SlotState, epochs: EpochTimes): void {
  setClock(engine, state, epochs)
  engine.setSlotHashes(state.slotHashes.map(({ slot, hash }) => ({ slot: BigInt(slot), hash })))
}

function accountAt(found: { readonly address: Uint8Array; account(): Account }): AccountAt {
  return { address: found.address, state: stateOf(found.account()) }
}

/**
 * Undefined for a missing account, and for one with zero lamports, because the runtime keeps closed accounts in this
 * form.
 */
function stateOf(account: Account | null): AccountState | undefined {
  if (account === null || account.lamports() === 0n) return undefined
  return {
    lamports: account.lamports(),
    owner: account.owner(),
    data: account.data(),
    executable: account.executable(),
  }
}

function accountOf(state: AccountState | undefined): Account {
  if (state === undefined) return new Account(0n, new Uint8Array(), new Uint8Array(32), false, 0n)
  return new Account(state.lamports, state.data, state.owner, state.executable, 0n)
}
