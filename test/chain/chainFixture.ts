import {
  ACCOUNT_SIZE,
  ExtensionType,
  TOKEN_2022_PROGRAM_ID,
  TOKEN_PROGRAM_ID,
  createAssociatedTokenAccountInstruction,
  createInitializeMint2Instruction,
  createInitializePermanentDelegateInstruction,
  createInitializeTransferFeeConfigInstruction,
  createMintToInstruction,
  getAccountLen,
  getAssociatedTokenAddressSync,
  getMintLen,
} from '@solana/spl-token'
import {
  Connection,
  Keypair,
  PublicKey,
  SystemProgram,
  Transaction,
  type TransactionInstruction,
} from '@solana/web3.js'
import { openChain } from '../../src/chain/openChain.ts'
import { type LocalChain, type NodeBehaviour, startLocalChain } from '@tollbook/localnet/localChain'
import { postJson } from '../../src/outbound/postJson.ts'
import { type Address, readAddress } from '@tollbook/core/address'
import type { ChainReader } from '../../src/payment/chainReader.ts'
import { type Price, transferBaseUnits } from '@tollbook/core/quote'
import type { TransactionRecord } from '../../src/payment/transactionRecord.ts'
import type { PaymentTerms } from '../../src/payment/settlement.ts'
import { type Signature, readSignature } from '@tollbook/core/signature'
import { feeOf, sentForArrival } from '@tollbook/core/transferFee'
import { split } from '../../src/pricing/split.ts'
import { defaultSplit } from '../../src/pricing/splitSetting.ts'
import { assertPresent } from '@tollbook/core/assert'
import { type Clock, systemClock } from '@tollbook/core/clock'
import { silentLog } from '../../src/machine/log.ts'
import { idleProgram, relayProgram } from './relay/relayProgram.ts'

export const mintKinds = ['SPL Token', 'Token-2022', 'Token-2022 with a transfer fee'] as const
export type MintKind = (typeof mintKinds)[number]

/** A local chain with one mint of that kind and a payment wallet, read by the real adapter over HTTP. */
export interface ChainFixture {
  readonly kind: MintKind
  readonly chain: LocalChain
  readonly connection: Connection
  readonly program: PublicKey
  readonly mint: PublicKey
  /** Mints, pays for the scenery, and is the permanent delegate of both Token-2022 mints. */
  readonly issuer: Keypair
  readonly paymentWallet: Keypair
  readonly paymentAccount: PublicKey
  readonly reader: ChainReader
  readonly terms: PaymentTerms
  readonly price: Price
  /** Called with the bytes of each payment before it is sent. */
  readonly beforeSend?: (bytes: Uint8Array) => Promise<void>
}

export const decimals = 6
/** 1 %, large enough that it is missed and small enough that the maximum does not matter. */
export const transferFee = { basisPoints: 100, maximumBaseUnits: 1_000_000_000n }

/** Short, so that a test can reach the epoch in which a scheduled transfer fee takes effect. */
const slotsPerEpoch = 1_000

/** Loops back what it is asked as an inner instruction. */
export const relayAddress = new PublicKey(Buffer.alloc(32, 7))
/** Does nothing, whatever it is asked. */
export const idleAddress = new PublicKey(Buffer.alloc(32, 8))

/** The first of `nodes` is the one of the test; without them there is one that shows the newest state. */
export async function openChainFixture(
  kind: MintKind,
  clock: Clock = systemClock,
  nodes?: readonly NodeBehaviour[],
): Promise<ChainFixture> {
  const chain = await startLocalChain({ slotMs: 0, clock, slotsPerEpoch, ...(nodes === undefined ? {} : { nodes }) })
  chain.addProgram(relayAddress.toBase58(), relayProgram)
  chain.addProgram(idleAddress.toBase58(), idleProgram)
  const connection = new Connection(chain.rpcUrl, { commitment: 'confirmed', wsEndpoint: chain.wsUrl })
  const [issuer, paymentWallet, mint] = [Keypair.generate(), Keypair.generate(), Keypair.generate()]
  await connection.requestAirdrop(issuer.publicKey, 1_000_000_000_000)
  const program = kind === 'SPL Token' ? TOKEN_PROGRAM_ID : TOKEN_2022_PROGRAM_ID
  const paymentAccount = getAssociatedTokenAddressSync(mint.publicKey, paymentWallet.publicKey, false, program)
  const scene = { chain, connection, issuer }
  await stage(scene, [...newMint({ kind, mint: mint.publicKey, issuer: issuer.publicKey })], [mint])
  await stage(scene, [openAccount(scene, { program, mint: mint.publicKey, owner: paymentWallet.publicKey })])
  const { reader, terms } = await openChain({
    rpcUrls: [chain.rpcUrl],
    tokenMint: mint.publicKey.toBase58(),
    paymentWallet: paymentWallet.publicKey.toBase58(),
    commitment: 'confirmed',
    postJson,
    log: silentLog,
    clock,
  })
  const price = priceOf(terms, 1_000_001n)
  return { ...scene, kind, program, mint: mint.publicKey, paymentWallet, paymentAccount, reader, terms, price }
}

/** A price in the lab's mint. Of 1,000,001 base units 300,001 are burned: the rounding is up and can be seen. */
export function priceOf(terms: PaymentTerms, requiredBaseUnits: bigint, endpoint = '/api/data/weather'): Price {
  const { mint } = terms
  // A token costs a dollar, so that the price in micro dollars is the price in base units.
  const market = { priceMicroUsd: requiredBaseUnits, tokenPriceAttoUsd: 10n ** 18n }
  return { endpoint, ...market, mint, decimals, requiredBaseUnits, ...split(requiredBaseUnits, defaultSplit) }
}

type Sender = Pick<ChainFixture, 'chain' | 'connection' | 'beforeSend'>
type Scene = Pick<ChainFixture, 'chain' | 'connection' | 'issuer'>

/** Makes the scenery of a test: the issuer pays, and a transaction that fails is the test's own mistake. */
export async function stage(
  { chain, connection, issuer }: Scene,
  instructions: readonly TransactionInstruction[],
  signers: readonly Keypair[] = [],
): Promise<void> {
  const transaction = await signedBy(connection, instructions, [issuer, ...signers])
  await connection.sendRawTransaction(transaction.serialize(justSigned), { preflightCommitment: 'processed' })
  chain.advanceSlots(1)
}

/** Puts a transaction on chain, whether it succeeds there or not. The first signer pays the fee in SOL. */
export async function land(
  fixture: Sender,
  instructions: readonly TransactionInstruction[],
  signers: readonly Keypair[],
): Promise<Signature> {
  const transaction = await signedBy(fixture.connection, instructions, signers)
  return sendAndConfirm(fixture, transaction.serialize(justSigned))
}

export async function sendAndConfirm(fixture: Sender, bytes: Uint8Array): Promise<Signature> {
  const signature = await send(fixture, bytes)
  fixture.chain.advanceSlots(1)
  return signature
}

/** It has landed, and is not confirmed yet. */
export async function send({ connection, beforeSend }: Sender, bytes: Uint8Array): Promise<Signature> {
  await beforeSend?.(bytes)
  return signatureOf(await connection.sendRawTransaction(bytes, { skipPreflight: true }))
}

export async function signedBy(
  connection: Connection,
  instructions: readonly TransactionInstruction[],
  signers: readonly Keypair[],
): Promise<Transaction> {
  const transaction = new Transaction().add(...instructions)
  transaction.recentBlockhash = (await connection.getLatestBlockhash('processed')).blockhash
  transaction.sign(...signers)
  return transaction
}

/** Verifying our own signature again takes web3.js 4 ms. */
const justSigned = { verifySignatures: false }

/** A wallet with SOL for fees and tokens in an associated account. */
export interface Customer {
  readonly keypair: Keypair
  readonly address: PublicKey
  readonly account: PublicKey
}

export async function newCustomer(fixture: ChainFixture, tokens = 10_000_000n): Promise<Customer> {
  const keypair = Keypair.generate()
  const address = keypair.publicKey
  const account = accountOf(fixture, address)
  const minted =
    tokens === 0n
      ? []
      : [createMintToInstruction(fixture.mint, account, fixture.issuer.publicKey, tokens, [], fixture.program)]
  await stage(fixture, [giveSol(fixture, address), openAccount(fixture, { ...fixture, owner: address }), ...minted])
  return { keypair, address, account }
}

export function accountOf({ mint, program }: Pick<ChainFixture, 'mint' | 'program'>, owner: PublicKey): PublicKey {
  return getAssociatedTokenAddressSync(mint, owner, true, program)
}

/** Enough for fees and for the rent of a few accounts. */
export function giveSol({ issuer }: Pick<ChainFixture, 'issuer'>, to: PublicKey): TransactionInstruction {
  return SystemProgram.transfer({ fromPubkey: issuer.publicKey, toPubkey: to, lamports: 100_000_000 })
}

interface Opening {
  readonly program: PublicKey
  readonly mint: PublicKey
  readonly owner: PublicKey
}

/** Opens the associated account; the issuer pays the rent. */
export function openAccount(
  { issuer }: Pick<ChainFixture, 'issuer'>,
  { program, mint, owner }: Opening,
): TransactionInstruction {
  const account = getAssociatedTokenAddressSync(mint, owner, true, program)
  return createAssociatedTokenAccountInstruction(issuer.publicKey, account, owner, mint, program)
}

interface NewMint {
  readonly kind: MintKind
  readonly mint: PublicKey
  readonly issuer: PublicKey
}

export function newMint({ kind, mint, issuer }: NewMint): readonly TransactionInstruction[] {
  const program = kind === 'SPL Token' ? TOKEN_PROGRAM_ID : TOKEN_2022_PROGRAM_ID
  const { basisPoints, maximumBaseUnits } = transferFee
  const feeConfig = () =>
    createInitializeTransferFeeConfigInstruction(mint, issuer, issuer, basisPoints, maximumBaseUnits, program)
  return [
    createAllocation({ account: mint, payer: issuer, space: getMintLen([...mintExtensions[kind]]), program }),
    ...(kind === 'SPL Token' ? [] : [createInitializePermanentDelegateInstruction(mint, issuer, program)]),
    ...(kind === 'Token-2022 with a transfer fee' ? [feeConfig()] : []),
    createInitializeMint2Instruction(mint, decimals, issuer, null, program),
  ]
}

const mintExtensions: Record<MintKind, readonly ExtensionType[]> = {
  'SPL Token': [],
  'Token-2022': [ExtensionType.PermanentDelegate],
  'Token-2022 with a transfer fee': [ExtensionType.PermanentDelegate, ExtensionType.TransferFeeConfig],
}

interface Allocation {
  readonly account: PublicKey
  readonly payer: PublicKey
  readonly space: number
  readonly program: PublicKey
}

/** More lamports than any account of a test needs, so that tests need no rent queries. */
const rentLamports = 10_000_000

export function createAllocation({ account, payer, space, program }: Allocation): TransactionInstruction {
  return SystemProgram.createAccount({
    fromPubkey: payer,
    newAccountPubkey: account,
    lamports: rentLamports,
    space,
    programId: program,
  })
}

export function accountBytes(kind: MintKind): number {
  return kind === 'Token-2022 with a transfer fee' ? getAccountLen([ExtensionType.TransferFeeAmount]) : ACCOUNT_SIZE
}

/** Amount to send so that this much arrives. */
export function gross({ terms }: Pick<ChainFixture, 'terms'>, arrivingBaseUnits: bigint): bigint {
  const fee = terms.transferFee?.()
  return fee === undefined ? arrivingBaseUnits : sentForArrival(arrivingBaseUnits, fee)
}

/** Amount withheld from a sent amount. */
export function withheld({ terms }: Pick<ChainFixture, 'terms'>, sentBaseUnits: bigint): bigint {
  const fee = terms.transferFee?.()
  return fee === undefined ? 0n : feeOf(sentBaseUnits, fee)
}

/** Amount that has to arrive for the fixture's price. */
export function due({ price }: Pick<ChainFixture, 'price'>): bigint {
  return transferBaseUnits(price)
}

/** A transaction that the chain has. */
export async function mustFind(reader: ChainReader, signature: Signature): Promise<TransactionRecord> {
  const finding = await reader.find(signature)
  if (finding.kind !== 'found') throw new Error(`${signature} is not found: ${finding.kind}`)
  return finding.record
}

export function addressOf(key: PublicKey): Address {
  return assertPresent(readAddress(key.toBase58()), 'a public key is an address')
}

export function signatureOf(text: string): Signature {
  return assertPresent(readSignature(text), 'the chain answers with a signature')
}
