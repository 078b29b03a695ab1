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
  type PaymentLab,
  accountBytes,
  createAllocation,
  decimals,
  due,
  gross,
  idleAddress,
  relayAddress,
  withheld,
} from './paymentLab.ts'

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

export function burn(lab: PaymentLab, { from, by, amount, members = [] }: Spending): TransactionInstruction {
  return createBurnInstruction(from, lab.mint, by, amount, [...members], lab.program)
}

export function burnChecked(lab: PaymentLab, { from, by, amount, members = [] }: Spending): TransactionInstruction {
  return createBurnCheckedInstruction(from, lab.mint, by, amount, decimals, [...members], lab.program)
}

interface Sending extends Spending {
  /** By default the payment wallet's associated account. */
  readonly to?: PublicKey
}

export function transfer(lab: PaymentLab, { from, by, amount, to }: Sending): TransactionInstruction {
  return createTransferInstruction(from, to ?? lab.paymentAccount, by, amount, [], lab.program)
}

export function transferChecked(lab: PaymentLab, sending: Sending): TransactionInstruction {
  const { from, by, amount, to = lab.paymentAccount, members = [] } = sending
  return createTransferCheckedInstruction(from, lab.mint, to, by, amount, decimals, [...members], lab.program)
}

export function transferCheckedWithFee(lab: PaymentLab, { from, by, amount, to }: Sending): TransactionInstruction {
  const fee = withheld(lab, amount)
  const destination = to ?? lab.paymentAccount
  return createTransferCheckedWithFeeInstruction(
    from,
    lab.mint,
    destination,
    by,
    amount,
    decimals,
    fee,
    [],
    lab.program,
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
export function payment(lab: PaymentLab, payer: Customer, changes: Payment = {}): readonly TransactionInstruction[] {
  return [burnOf(lab, payer, changes), transferOf(lab, payer, changes)]
}

export function burnOf(lab: PaymentLab, payer: Customer, changes: Payment = {}): TransactionInstruction {
  const { from = payer.account, by = payer.address, burn: amount = lab.price.burnBaseUnits } = changes
  return burnChecked(lab, { from, by, amount })
}

export function transferOf(lab: PaymentLab, payer: Customer, changes: Payment = {}): TransactionInstruction {
  const { from = payer.account, by = payer.address, send: amount = gross(lab, due(lab)) } = changes
  return transferChecked(lab, { from, by, amount })
}

export function mintTo(lab: PaymentLab, to: PublicKey, amount: bigint): TransactionInstruction {
  return createMintToInstruction(lab.mint, to, lab.issuer.publicKey, amount, [], lab.program)
}

export function approve(
  lab: PaymentLab,
  owner: Pick<Customer, 'account' | 'address'>,
  delegate: PublicKey,
): TransactionInstruction {
  return createApproveInstruction(owner.account, delegate, owner.address, 5_000_000n, [], lab.program)
}

interface Handover {
  readonly account: PublicKey
  readonly from: PublicKey
  readonly to: PublicKey
}

export function handOver(lab: PaymentLab, { account, from, to }: Handover): TransactionInstruction {
  return createSetAuthorityInstruction(account, from, AuthorityType.AccountOwner, to, [], lab.program)
}

/** An account at its own address, which is not an associated account. The issuer pays the rent. */
export function openPlainAccount(
  lab: PaymentLab,
  account: PublicKey,
  owner: PublicKey,
): readonly TransactionInstruction[] {
  const payer = lab.issuer.publicKey
  return [
    createAllocation({ account, payer, space: accountBytes(lab.kind), program: lab.program }),
    createInitializeAccount3Instruction(account, lab.mint, owner, lab.program),
  ]
}

/** Closes an account that is empty, once what was withheld in it is with the mint. */
export function closeAccount(lab: PaymentLab, account: PublicKey, owner: PublicKey): readonly TransactionInstruction[] {
  const close = createCloseAccountInstruction(account, owner, owner, [], lab.program)
  return lab.terms.transferFee === undefined ? [close] : [harvest(lab, [account]), close]
}

export function harvest(lab: PaymentLab, accounts: readonly PublicKey[]): TransactionInstruction {
  return createHarvestWithheldTokensToMintInstruction(lab.mint, [...accounts], lab.program)
}

const batchByte = 255

/** One instruction that holds several of the token program; the wallet libraries cannot write it yet. */
export function batch(lab: PaymentLab, instructions: readonly TransactionInstruction[]): TransactionInstruction {
  return new TransactionInstruction({
    programId: lab.program,
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
