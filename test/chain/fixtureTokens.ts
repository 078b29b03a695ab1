import {
  AuthorityType,
  createApproveInstruction,
  createBurnCheckedInstruction,
  createBurnInstruction,
  createCloseAccountInstruction,
  createHarvestWithheldTokensToMintInstruction,
  createInitializeAccount3Instruction,
  createMintToInstruction,
  createSetAuthorityInstruction,
  createTransferCheckedInstruction,
  createTransferCheckedWithFeeInstruction,
  createTransferInstruction,
} from '@solana/spl-token'
import { PublicKey, type Signer, TransactionInstruction } from '@solana/web3.js'
import {
  type Customer,
  type ChainFixture,
  accountBytes,
  createAllocation,
  decimals,
  due,
  gross,
  idleAddress,
  relayAddress,
  withheld,
} from './chainFixture.ts'

/*
 * The instructions of payments, as a wallet would write them. Each amount is in base units of the lab's mint.
 */

interface Spending {
  readonly from: PublicKey
  readonly by: PublicKey
  readonly amount: bigint
  /** The members that sign where `by` is a multisig. */
  readonly members?: readonly Signer[]
}

export function burn(fixture: ChainFixture, { from, by, amount, members = [] }: Spending): TransactionInstruction {
  return createBurnInstruction(from, fixture.mint, by, amount, [...members], fixture.program)
}

export function burnChecked(
  fixture: ChainFixture,
  { from, by, amount, members = [] }: Spending,
): TransactionInstruction {
  return createBurnCheckedInstruction(from, fixture.mint, by, amount, decimals, [...members], fixture.program)
}

interface Sending extends Spending {
  /** By default the payment wallet's associated account. */
  readonly to?: PublicKey
}

export function transfer(fixture: ChainFixture, { from, by, amount, to }: Sending): TransactionInstruction {
  return createTransferInstruction(from, to ?? fixture.paymentAccount, by, amount, [], fixture.program)
}

export function transferChecked(fixture: ChainFixture, sending: Sending): TransactionInstruction {
  const { from, by, amount, to = fixture.paymentAccount, members = [] } = sending
  return createTransferCheckedInstruction(from, fixture.mint, to, by, amount, decimals, [...members], fixture.program)
}

export function transferCheckedWithFee(
  fixture: ChainFixture,
  { from, by, amount, to }: Sending,
): TransactionInstruction {
  const fee = withheld(fixture, amount)
  const destination = to ?? fixture.paymentAccount
  return createTransferCheckedWithFeeInstruction(
    from,
    fixture.mint,
    destination,
    by,
    amount,
    decimals,
    fee,
    [],
    fixture.program,
  )
}

interface Payment {
  readonly burn?: bigint
  readonly send?: bigint
  readonly from?: PublicKey
  readonly by?: PublicKey
}

/**
 * The instructions that the quote requires: a burn and a transfer from the payer's associated account, with the fee on
 * top.
 */
export function payment(
  fixture: ChainFixture,
  payer: Customer,
  changes: Payment = {},
): readonly TransactionInstruction[] {
  return [burnOf(fixture, payer, changes), transferOf(fixture, payer, changes)]
}

export function burnOf(fixture: ChainFixture, payer: Customer, changes: Payment = {}): TransactionInstruction {
  const { from = payer.account, by = payer.address, burn: amount = fixture.price.burnBaseUnits } = changes
  return burnChecked(fixture, { from, by, amount })
}

export function transferOf(fixture: ChainFixture, payer: Customer, changes: Payment = {}): TransactionInstruction {
  const { from = payer.account, by = payer.address, send: amount = gross(fixture, due(fixture)) } = changes
  return transferChecked(fixture, { from, by, amount })
}

export function mintTo(fixture: ChainFixture, to: PublicKey, amount: bigint): TransactionInstruction {
  return createMintToInstruction(fixture.mint, to, fixture.issuer.publicKey, amount, [], fixture.program)
}

export function approve(
  fixture: ChainFixture,
  owner: Pick<Customer, 'account' | 'address'>,
  delegate: PublicKey,
): TransactionInstruction {
  return createApproveInstruction(owner.account, delegate, owner.address, 5_000_000n, [], fixture.program)
}

interface Handover {
  readonly account: PublicKey
  readonly from: PublicKey
  readonly to: PublicKey
}

export function handOver(fixture: ChainFixture, { account, from, to }: Handover): TransactionInstruction {
  return createSetAuthorityInstruction(account, from, AuthorityType.AccountOwner, to, [], fixture.program)
}

/** An account at its own address, which is not an associated account. The issuer pays the rent. */
export function openPlainAccount(
  fixture: ChainFixture,
  account: PublicKey,
  owner: PublicKey,
): readonly TransactionInstruction[] {
  const payer = fixture.issuer.publicKey
  return [
    createAllocation({ account, payer, space: accountBytes(fixture.kind), program: fixture.program }),
    createInitializeAccount3Instruction(account, fixture.mint, owner, fixture.program),
  ]
}

/** Closes an account that is empty, once what was withheld in it is with the mint. */
export function closeAccount(
  fixture: ChainFixture,
  account: PublicKey,
  owner: PublicKey,
): readonly TransactionInstruction[] {
  const close = createCloseAccountInstruction(account, owner, owner, [], fixture.program)
  return fixture.terms.transferFee?.() === undefined ? [close] : [harvest(fixture, [account]), close]
}

export function harvest(fixture: ChainFixture, accounts: readonly PublicKey[]): TransactionInstruction {
  return createHarvestWithheldTokensToMintInstruction(fixture.mint, [...accounts], fixture.program)
}

const batchByte = 255

/** One instruction that holds several of the token program; the wallet libraries cannot write it yet. */
export function batch(fixture: ChainFixture, instructions: readonly TransactionInstruction[]): TransactionInstruction {
  return new TransactionInstruction({
    programId: fixture.program,
    keys: instructions.flatMap(({ keys }) => keys),
    data: Buffer.concat([
      Buffer.from([batchByte]),
      ...instructions.flatMap(({ keys, data }) => [Buffer.from([keys.length, data.length]), data]),
    ]),
  })
}

/** The same, but called by another program. */
export function relayed({ programId, keys, data }: TransactionInstruction): TransactionInstruction {
  const target = { pubkey: programId, isSigner: false, isWritable: false }
  return new TransactionInstruction({ programId: relayAddress, keys: [target, ...keys], data })
}

/** The same bytes for a program that is not a token program and does nothing. */
export function imitated({ programId, keys, data }: TransactionInstruction): TransactionInstruction {
  const original = { pubkey: programId, isSigner: false, isWritable: false }
  return new TransactionInstruction({ programId: idleAddress, keys: [...keys, original], data })
}

const memoVersions = {
  1: new PublicKey('Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo'),
  3: new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'),
} as const

export function memo(text: string, version: keyof typeof memoVersions = 3): TransactionInstruction {
  return new TransactionInstruction({ programId: memoVersions[version], keys: [], data: Buffer.from(text) })
}
