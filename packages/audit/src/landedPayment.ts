import { type AuditedSettlement, dueOf } from './settlement.ts'
import { signatureOf } from './streamName.ts'
import type { ChainTransaction } from './chainNode.ts'
import { dataOf, memosOf, movesIn, openingsIn, type ProgramCall, sumOf, type TokenMove } from './tokenMoves.ts'

export interface LandedMoves {
  readonly moves: readonly TokenMove[]
  readonly accounts: ReadonlyMap<string, LandedAccount>
  readonly signers: readonly string[]
  /** Only the memos of Tollbook, which bind a payment to a quote. */
  readonly memos: readonly string[]
}

export interface LandedAccount {
  readonly mint: string
  /** Owners before and after the transaction, and at each opening in between: an account may be temporary. */
  readonly owners: ReadonlySet<string>
  readonly changeBaseUnits: bigint
}

/**
 * Returns the moves and balances of one mint in a transaction. Uses all instructions and the balances, but not the
 * logs, which end after 10,000 bytes.
 */
export function movesOf(landed: ChainTransaction, mint: string): LandedMoves {
  const { message } = landed.transaction
  const calls = callsOf(landed)
  const all = accountsOf(landed, calls)
  const moves = movesIn(calls).filter((move) => mintOfMove(move, all) === mint)
  const accounts = new Map([...all].filter(([, account]) => account.mint === mint))
  return {
    moves,
    accounts,
    memos: memosOf(calls),
    signers: message.accountKeys.slice(0, message.header.numRequiredSignatures),
  }
}

function callsOf({ transaction: { message }, meta }: ChainTransaction): readonly ProgramCall[] {
  const keys = keysOf({ message, meta })
  const instructions = [...message.instructions, ...meta.innerInstructions.flatMap(({ instructions: inner }) => inner)]
  return instructions.map(({ programIdIndex, accounts, data }) => {
    const program = keys[programIdIndex] ?? ''
    return { program, accounts: accounts.map((index) => keys[index] ?? ''), data: dataOf(program, data) }
  })
}

/** Returns the account keys in the order that instruction indexes use: static keys first, then keys from lookup tables. */
function keysOf({ message, meta }: Pick<ChainTransaction['transaction'], 'message'> & Pick<ChainTransaction, 'meta'>) {
  const { writable = [], readonly: read = [] } = meta.loadedAddresses ?? {}
  return [...message.accountKeys, ...writable, ...read]
}

function accountsOf({ transaction: { message }, meta }: ChainTransaction, calls: readonly ProgramCall[]) {
  const keys = keysOf({ message, meta })
  const accounts = new Map<string, { mint: string; owners: Set<string>; changeBaseUnits: bigint }>()
  const see = (account: string, mint: string, owner: string) => {
    const known = accounts.get(account) ?? { mint, owners: new Set<string>(), changeBaseUnits: 0n }
    known.owners.add(owner)
    accounts.set(account, known)
    return known
  }
  const count = (balances: typeof meta.preTokenBalances, direction: 1 | -1): void => {
    for (const { accountIndex, mint, owner, uiTokenAmount } of balances) {
      see(keys[accountIndex] ?? '', mint, owner).changeBaseUnits += BigInt(direction) * BigInt(uiTokenAmount.amount)
    }
  }
  count(meta.preTokenBalances, -1)
  count(meta.postTokenBalances, 1)
  for (const { account, mint, owner } of openingsIn(calls)) see(account, mint, owner)
  return accounts
}

/** Returns the mint of a move. A plain transfer does not name its mint, so the mint of its accounts is used. */
function mintOfMove({ mint, source, destination }: TokenMove, accounts: ReadonlyMap<string, LandedAccount>) {
  return mint ?? accounts.get(source ?? '')?.mint ?? accounts.get(destination ?? '')?.mint
}

export interface PaidAccount {
  readonly wallet: string
  /** The associated token account of the wallet. Payments to other accounts of the wallet do not count. */
  readonly tokenAccount: string
}

/**
 * Returns how the transaction on chain contradicts the recorded payment. Undefined if they agree. A different slot
 * alone is not a contradiction.
 */
export function contradictionOf(
  landed: ChainTransaction,
  settlement: AuditedSettlement,
  paid: PaidAccount,
): string | undefined {
  const { wallet, evidence, reference, price, memo } = settlement
  const { slot, blockTimeMs } = evidence
  if (landed.transaction.signatures[0] !== signatureOf(reference)) return 'the node answered with another transaction'
  const { blockTime } = landed
  // Compare the times only if the slots are equal, because after a fork the transaction may have landed again in
  // another block.
  if (landed.slot === slot && blockTime !== null && blockTime !== undefined && blockTime * 1000 !== blockTimeMs) {
    return `its block is of ${blockTime}, and ${blockTimeMs / 1000} is recorded`
  }
  const landedMoves = movesOf(landed, price.mint)
  const { accounts, signers, memos } = landedMoves
  if (!signers.includes(wallet)) return `${wallet} did not sign it`
  if (memos.join() !== (memo ?? '')) return `it has the memo ${memos.join()}, and ${memo ?? 'none'} is recorded`
  const own = ownMoves(landedMoves, wallet)
  const burnedBaseUnits = sumOf(own.filter(({ kind }) => kind === 'burn'))
  if (burnedBaseUnits !== settlement.burnedBaseUnits)
    return `it burned ${burnedBaseUnits}, and ${settlement.burnedBaseUnits} are recorded`
  const restored = findRestoredBurn(landedMoves, burnedBaseUnits)
  if (restored !== undefined) return restored
  const payments = own.filter(({ kind, destination }) => kind === 'transfer' && destination === paid.tokenAccount)
  const sentBaseUnits = sumOf(payments)
  const receiver = accounts.get(paid.tokenAccount)
  const isOurs = receiver !== undefined && [...receiver.owners].every((owner) => owner === paid.wallet)
  const arrivedBaseUnits = isOurs ? receiver.changeBaseUnits : 0n
  if (arrivedBaseUnits !== settlement.receivedBaseUnits)
    return `${arrivedBaseUnits} arrived, and ${settlement.receivedBaseUnits} are recorded as received`
  // Count only the transfers that the wallet signed, because the received amount also contains transfers of other
  // wallets.
  const dueBaseUnits = dueOf(settlement)
  return sentBaseUnits < dueBaseUnits ? `${wallet} sent ${sentBaseUnits}, and the price is ${dueBaseUnits}` : undefined
}

/** Moves by a delegate, and moves of another wallet's tokens, do not count (rules 2b and 2c of docs/verification.md). */
function ownMoves({ moves, accounts }: LandedMoves, wallet: string): readonly TokenMove[] {
  return moves.filter(({ authority, source }) => {
    const owners = accounts.get(source ?? '')?.owners
    return authority === wallet && owners?.size === 1 && owners.has(wallet)
  })
}

/**
 * Returns why the burn may have been undone: tokens were minted in the same transaction, or all balances together fell
 * by less than the burn. Undefined if neither is the case.
 */
function findRestoredBurn({ moves, accounts }: LandedMoves, burnedBaseUnits: bigint): string | undefined {
  if (moves.some(({ kind }) => kind === 'mint')) return 'tokens were minted in the same transaction'
  const fallBaseUnits = -[...accounts.values()].reduce((sum, { changeBaseUnits }) => sum + changeBaseUnits, 0n)
  if (fallBaseUnits >= burnedBaseUnits) return undefined
  return `it burned ${burnedBaseUnits}, and the balances fell by ${fallBaseUnits}`
}

export function sentTo({ moves, accounts }: LandedMoves, account: string): ReadonlyMap<string, bigint> {
  const sent = new Map<string, bigint>()
  for (const { kind, source, destination, amountBaseUnits } of moves) {
    if (kind !== 'transfer' || source !== account) continue
    const owner = [...(accounts.get(destination ?? '')?.owners ?? [])].join(' and ')
    sent.set(owner, (sent.get(owner) ?? 0n) + amountBaseUnits)
  }
  return sent
}

/**
 * Returns the wallet that sent the largest amount to the service's own accounts, or several wallets if their amounts
 * are equal. Empty if only minted tokens arrived. Ignores transfers between the service's accounts.
 */
export function sendersTo({ moves, accounts }: LandedMoves, own: ReadonlySet<string>): ReadonlySet<string> {
  const sent = new Map<string, bigint>()
  for (const { kind, source = '', destination = '', authority, amountBaseUnits } of moves) {
    if (kind !== 'transfer' || !own.has(destination) || own.has(source)) continue
    for (const owner of accounts.get(source)?.owners ?? [authority])
      sent.set(owner, (sent.get(owner) ?? 0n) + amountBaseUnits)
  }
  const mostBaseUnits = [...sent.values()].reduce((max, amount) => (amount > max ? amount : max), 0n)
  return new Set([...sent].filter(([, amount]) => amount === mostBaseUnits).map(([owner]) => owner))
}

/** True if the transaction failed. A failed transaction is on chain, but only its fee was paid. */
export function hasFailed({ meta }: ChainTransaction): boolean {
  return meta.err !== null && meta.err !== undefined
}
