import { Account, Clock, EpochSchedule, FailedTransactionMetadata, LiteSvm } from 'litesvm/dist/internal.js'
import { type ExecutionOutcome, outcomeOf } from './executionOutcome.ts'

/*
 * The engine: litesvm, which runs transactions in the real Agave runtime with the real program binaries.
 *
 * It is imported by its inner module because only that takes a transaction's wire bytes; the outer one would decode and
 * encode them again through @solana/kit, which then is loaded for nothing. The version is pinned exactly.
 * Its native part aborts the process on a malformed transaction or an address that is not 32 bytes, so callers parse
 * first. Off in it, because it has them in a form of no use: blockhash window and history.
 */

/** Without the rent epoch: rent is no longer collected, and litesvm answers 0 for every account. */
export interface AccountState {
  readonly lamports: bigint
  readonly owner: Uint8Array
  readonly data: Uint8Array
  readonly executable: boolean
}

export interface AccountAt {
  readonly address: Uint8Array
  /** Undefined when the account is gone. */
  readonly state: AccountState | undefined
}

export interface Simulation {
  readonly outcome: ExecutionOutcome
  /** The writable accounts as they would be; empty when the transaction fails. */
  readonly accounts: readonly AccountAt[]
}

/** Inputs of the runtime for the current moment; they become the sysvars Clock and SlotHashes. */
export interface SlotState {
  readonly slot: number
  readonly timeSeconds: number
  /** Newest first. */
  readonly slotHashes: readonly { readonly slot: number; readonly hash: string }[]
}

/** Bytes in, plain data out. Users of this interface need no knowledge of litesvm. */
export interface Svm {
  execute(wire: Uint8Array): ExecutionOutcome
  simulate(wire: Uint8Array): Simulation
  /** Whether the next executions and simulations check signatures. */
  verifySignatures(on: boolean): void
  account(address: Uint8Array): AccountState | undefined
  lamports(address: Uint8Array): bigint
  accountsOwnedBy(program: Uint8Array): readonly AccountAt[]
  setAccount(account: AccountAt): void
  setSlot(state: SlotState): void
  /** Only the Clock sysvar, in a few microseconds; SlotHashes take 0.2 ms. */
  setClock(state: Pick<SlotState, 'slot' | 'timeSeconds'>): void
  addProgram(address: Uint8Array, elf: Uint8Array): void
  rentExemptLamports(dataLength: number): bigint
  /** The whole state, 1.4 MB and up, in about 5 ms. */
  snapshot(): Uint8Array
}

export interface EpochTimes {
  readonly slotsPerEpoch: number
  readonly startedAtSeconds: number
}

/** A new engine, or the one that a snapshot was taken of. */
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
  // No warm-up: all epochs are of one length, so epoch arithmetic is a division.
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

/** The runtime leaves a closed account behind with no lamports; for all other code it does not exist. */
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
