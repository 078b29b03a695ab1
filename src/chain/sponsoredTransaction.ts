import { getAssociatedTokenAddressSync } from '@solana/spl-token'
import { PublicKey, VersionedTransaction } from '@solana/web3.js'
import { type Address, readAddress } from '@tollbook/core/address'
import { assert, assertPresent } from '@tollbook/core/assert'
import { sha256Hex } from '@tollbook/core/digest'
import { verifyEd25519 } from '@tollbook/core/ed25519'
import { computeBudgetProgram, memoPrograms, tokenPrograms } from '@tollbook/core/programs'
import { isRefusal } from '@tollbook/core/refusal'
import { type Signature, signatureBytes, signatureOfBytes } from '@tollbook/core/signature'
import type { SignedTransaction } from '../payment/proof.ts'
import type { SponsoredTransaction, SponsorPolicy, SponsorProblem } from '../payment/sponsoredTransaction.ts'
import { decodeTransaction, readTransaction } from './transactionBytes.ts'

/*
 * The conditions under which this service signs a transaction as its fee payer. The rail and the signer check the same
 * bytes by the same rules, each in its own process.
 *
 * The rules go by what the fee payer could lose. It is in no account list, so no program can be given its signature; the
 * fee is bounded; and of programs that move tokens there is one call, whose effect is read here.
 */

// Wallets add assertions of this program to what they sign: Phantom one, Solflare two.
const lighthouseProgram = 'L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95'
// The stock client of MPP asks for as much. The budget per payment bounds the fee.
const unitsMax = 200_000
const microLamportsMax = 5_000_000n
const microLamports = 1_000_000n
const lamportsPerSignature = 5_000
const signersCount = 2
const instructionsMax = 8
const noBytes = new Uint8Array()

interface Instruction {
  readonly program: string
  readonly accounts: readonly Address[]
  readonly data: Uint8Array
}

interface Decoded {
  readonly transaction: VersionedTransaction
  readonly instructions: readonly Instruction[]
  readonly payer: Address
}

/** Decodes a transaction that its payer has signed, and checks it. Pure: no network, no clock. */
export function readSponsored(bytes: Uint8Array, policy: SponsorPolicy): SponsoredTransaction | SponsorProblem {
  const transaction = decodeTransaction(bytes)
  if (transaction === undefined) return 'malformed'
  const decoded = decode(transaction, policy)
  if (typeof decoded === 'string') return decoded
  const fee = readFee(decoded.instructions)
  if (typeof fee === 'string') return fee
  const amountBaseUnits = readTransfer(decoded, policy)
  if (typeof amountBaseUnits === 'string') return amountBaseUnits
  const memo = readMemo(decoded.instructions)
  if (memo === false) return 'memo'
  const message = transaction.message.serialize()
  const { recentBlockhash: blockhash } = transaction.message
  const { payer } = decoded
  const payerSignature = assertPresent(signatureOfBytes(transaction.signatures[1] ?? noBytes), 'it was verified')
  const fees = { feeLamports: fee.feeLamports, amountBaseUnits, memo, blockhash }
  return { bytes, message, digest: sha256Hex(message), payer, payerSignature, ...fees }
}

/** The same transaction with the fee payer's signature in its place. A signature that does not hold is a bug of the signer. */
export function completeTransaction({ bytes }: SponsoredTransaction, signature: Signature): SignedTransaction {
  const transaction = VersionedTransaction.deserialize(bytes)
  transaction.signatures[0] = signatureBytes(signature)
  const completed = readTransaction(transaction.serialize())
  assert(!isRefusal(completed), 'the fee payer has signed the message of the transaction')
  return completed
}

function decode(transaction: VersionedTransaction, { feePayer }: SponsorPolicy): Decoded | SponsorProblem {
  const { message, signatures } = transaction
  if (message.addressTableLookups.length > 0) return 'lookup_table'
  const keys = message.staticAccountKeys.map((key) => readAddress(key.toBase58()))
  const [first, payer] = keys
  if (first !== feePayer) return 'fee_payer'
  const isOfTwo = message.header.numRequiredSignatures === signersCount && signatures.length === signersCount
  if (!isOfTwo || payer === undefined) return 'signers'
  if (message.compiledInstructions.length > instructionsMax) return 'length'
  const instructions: Instruction[] = []
  for (const { programIdIndex, accountKeyIndexes, data } of message.compiledInstructions) {
    const program = keys[programIdIndex]
    const accounts = accountKeyIndexes.map((index) => keys[index]).filter((key) => key !== undefined)
    if (program === undefined || accounts.length !== accountKeyIndexes.length) return 'malformed'
    if (program === feePayer || accounts.includes(feePayer)) return 'fee_payer_in_accounts'
    instructions.push({ program, accounts, data })
  }
  if (!instructions.every(({ program }) => isAllowed(program))) return 'program'
  const signature = signatures[1] ?? noBytes
  const publicKey = message.staticAccountKeys[1]?.toBytes() ?? new Uint8Array()
  if (!verifyEd25519({ publicKey, message: message.serialize(), signature })) return 'signature'
  return { transaction, instructions, payer }
}

function isAllowed(program: string): boolean {
  return (
    program === computeBudgetProgram ||
    program === lighthouseProgram ||
    tokenPrograms.has(program) ||
    memoPrograms.has(program)
  )
}

const setUnitLimit = 2
const setUnitPrice = 3

/** Both must be there: without a limit each instruction may use 200,000 units. */
function readFee(instructions: readonly Instruction[]): { readonly feeLamports: number } | SponsorProblem {
  const budget = instructions.filter(({ program }) => program === computeBudgetProgram)
  const limits = budget.filter(({ data }) => data[0] === setUnitLimit)
  const prices = budget.filter(({ data }) => data[0] === setUnitPrice)
  const [limit, price] = [limits[0]?.data, prices[0]?.data]
  if (limits.length !== 1 || limit?.length !== 5) return 'compute_limit'
  if (prices.length !== 1 || price?.length !== 9) return 'compute_price'
  if (budget.length !== limits.length + prices.length) return 'compute_other'
  const units = viewOf(limit).getUint32(1, true)
  const microLamportsPerUnit = viewOf(price).getBigUint64(1, true)
  if (units > unitsMax) return 'compute_limit'
  if (microLamportsPerUnit > microLamportsMax) return 'compute_price'
  const priority = (BigInt(units) * microLamportsPerUnit + microLamports - 1n) / microLamports
  return { feeLamports: signersCount * lamportsPerSignature + Number(priority) }
}

const transferChecked = 12
const transferDataLength = 10
const transferAccounts = 4

/** The amount of the one transfer. */
function readTransfer({ instructions, payer }: Decoded, policy: SponsorPolicy): bigint | SponsorProblem {
  const calls = instructions.filter(({ program }) => tokenPrograms.has(program))
  const [transfer] = calls
  if (transfer === undefined || calls.length !== 1) return 'transfer'
  const { program, accounts, data } = transfer
  if (data[0] !== transferChecked || data.length !== transferDataLength || accounts.length !== transferAccounts)
    return 'transfer'
  const [source, mint, destination, authority] = accounts
  if (mint !== policy.mint) return 'mint'
  if (destination !== tokenAccountOf(policy, program) || source === destination) return 'recipient'
  if (authority !== payer || payer === policy.paymentWallet) return 'authority'
  const amountBaseUnits = viewOf(data).getBigUint64(1, true)
  return amountBaseUnits === 0n ? 'amount' : amountBaseUnits
}

const tokenAccounts = new Map<string, string>()

/** The associated token account of the payment wallet. Deriving it takes a tenth of a millisecond or more. */
function tokenAccountOf({ mint, paymentWallet }: SponsorPolicy, program: string): string {
  const key = `${mint} ${paymentWallet} ${program}`
  const known = tokenAccounts.get(key)
  if (known !== undefined) return known
  const [wallet, token, owner] = [paymentWallet, mint, program].map((text) => new PublicKey(text))
  if (wallet === undefined || token === undefined || owner === undefined) return ''
  const derived = getAssociatedTokenAddressSync(token, wallet, true, owner).toBase58()
  tokenAccounts.set(key, derived)
  return derived
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** False when there is more than one, or one that is not text. */
function readMemo(instructions: readonly Instruction[]): string | undefined | false {
  const memos = instructions.filter(({ program }) => memoPrograms.has(program))
  const [memo] = memos
  if (memo === undefined) return undefined
  if (memos.length !== 1) return false
  try {
    return utf8.decode(memo.data)
  } catch {
    // Not UTF-8. The Memo program would refuse it too.
    return false
  }
}

function viewOf(data: Uint8Array): DataView {
  return new DataView(data.buffer, data.byteOffset, data.byteLength)
}
