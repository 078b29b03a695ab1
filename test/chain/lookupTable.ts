import {
  AddressLookupTableProgram,
  type AddressLookupTableAccount,
  type Keypair,
  type PublicKey,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import { assertPresent } from '@tollbook/core/assert'
import { type ChainFixture, stage } from './chainFixture.ts'

/** A table on chain with all the accounts of these instructions that a table may hold. */
async function openLookupTable(
  fixture: ChainFixture,
  instructions: readonly TransactionInstruction[],
): Promise<AddressLookupTableAccount> {
  const recentSlot = (await fixture.connection.getSlot('processed')) - 1
  return fillTable(fixture, recentSlot, accountsOf(instructions))
}

async function fillTable(
  fixture: ChainFixture,
  recentSlot: number,
  addresses: readonly PublicKey[],
): Promise<AddressLookupTableAccount> {
  const authority = fixture.issuer.publicKey
  const [create, table] = AddressLookupTableProgram.createLookupTable({ authority, payer: authority, recentSlot })
  const extend = AddressLookupTableProgram.extendLookupTable({
    authority,
    payer: authority,
    lookupTable: table,
    addresses: [...addresses],
  })
  await stage(fixture, [create, extend])
  const { value } = await fixture.connection.getAddressLookupTable(table, { commitment: 'processed' })
  return assertPresent(value, 'the table that was just made exists')
}

function accountsOf(instructions: readonly TransactionInstruction[]): readonly PublicKey[] {
  const keys = instructions.flatMap((instruction) => instruction.keys.filter(({ isSigner }) => !isSigner))
  const byText = new Map(keys.map(({ pubkey }) => [pubkey.toBase58(), pubkey]))
  return [...byText.values()]
}

/** One table that two forks fill with different accounts. Its address depends on a slot before both. */
export interface ForkedTable {
  /** Creates the table on the fork of now. */
  fill(address: PublicKey): Promise<AddressLookupTableAccount>
}

export async function planForkedTable(fixture: ChainFixture): Promise<ForkedTable> {
  const recentSlot = (await fixture.connection.getSlot('processed')) - 1
  return { fill: (address) => fillTable(fixture, recentSlot, [address]) }
}

/** A v0 transaction that names its accounts by the table as far as it can. */
export async function signedThroughTable(
  fixture: ChainFixture,
  instructions: readonly TransactionInstruction[],
  signers: readonly [Keypair, ...Keypair[]],
): Promise<VersionedTransaction> {
  const table = await openLookupTable(fixture, instructions)
  const { blockhash } = await fixture.connection.getLatestBlockhash('processed')
  const message = new TransactionMessage({
    payerKey: signers[0].publicKey,
    recentBlockhash: blockhash,
    instructions: [...instructions],
  })
  const transaction = new VersionedTransaction(message.compileToV0Message([table]))
  transaction.sign([...signers])
  return transaction
}
