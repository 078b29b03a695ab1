import { VersionedTransaction } from '@solana/web3.js'
import { type Address, readAddress } from '@tollbook/core/address'
import { assert } from '@tollbook/core/assert'
import { sha256Hex } from '@tollbook/core/digest'
import { verifyEd25519 } from '@tollbook/core/ed25519'
import { computeBudgetProgram, memoPrograms, tokenPrograms } from '@tollbook/core/programs'
import { isRefusal } from '@tollbook/core/refusal'
import { type Signature, signatureBytes } from '@tollbook/core/signature'
import { divideRoundingUp } from '@tollbook/core/money'
import type { SignedTransaction } from '../payment/proof.ts'
import type {
  PayerSigned,
  SponsoredTransaction,
  SponsorPolicy,
  SponsorProblem,
} from '../payment/sponsoredTransaction.ts'
import { tokenAccountOf } from './walletTerms.ts'
import { decodeTransaction, readTransaction } from './transactionBytes.ts'

/*
 * The conditions under which this service signs a transaction as its fee payer. The rail and the signer check the same
 * bytes by the same rules, each in a separate process.
 *
 * The rules limit the possible loss of the fee payer. The fee payer is in no account list, so no program can receive
 * its signature. The fee is bounded. Only one call of a token program is allowed, and its effect is checked here.
 */

// Assertion program whose instructions wallets add before signing: Phantom adds one, Solflare two.
const lighthouseProgram = 'L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95'
// Maximum of compute units: the limit that the standard client of MPP requests. With `microLamportsMax`, it bounds the
// fee.
const unitsMax = 200_000
const microLamportsMax = 5_000_000n
const microLamports = 1_000_000n
const lamportsPerSignature = 5_000n
const signersCount = 2
const instructionsMax = 8
const noBytes = new Uint8Array()

interface Instruction {
  readonly program: Address
  readonly accounts: readonly Address[]
  readonly data: Uint8Array
}

interface Calls {
  readonly instructions: readonly Instruction[]
  readonly payer: Address
}

export function readSponsored(bytes: Uint8Array, policy: SponsorPolicy): SponsoredTransaction | SponsorProblem {
  const signed = readPayerSigned(bytes)
  return typeof signed === 'string' ? signed : judgeSponsored(signed, policy)
}

/** Reads a transaction without any setting, so that a transaction that was readable once stays readable. */
export function readPayerSigned(bytes: Uint8Array): PayerSigned | SponsorProblem {
  const transaction = decodeTransaction(bytes)
  if (transaction === undefined) return 'malformed'
  const { message, signatures } = transaction
  if (message.addressTableLookups.length > 0) return 'lookup_table'
  const key = message.staticAccountKeys[1]
  const payer = key === undefined ? undefined : readAddress(key.toBase58())
  const isOfTwo = message.header.numRequiredSignatures === signersCount && signatures.length === signersCount
  if (!isOfTwo || key === undefined || payer === undefined) return 'signers'
  const serialized = message.serialize()
  if (!verifyEd25519({ publicKey: key.toBytes(), message: serialized, signature: signatures[1] ?? noBytes }))
    return 'signature'
  const memo = readMemo(message)
  if (memo === false) return 'memo'
  return { bytes, message: serialized, digest: sha256Hex(serialized), payer, mint: readMint(message), memo }
}

/**
 * Judges a transaction by the current policy, whose fee payer, mint and wallets may change. The result of
 * `readPayerSigned` does not depend on them.
 */
export function judgeSponsored(signed: PayerSigned, policy: SponsorPolicy): SponsoredTransaction | SponsorProblem {
  const { message } = VersionedTransaction.deserialize(signed.bytes)
  const instructions = readInstructions(message, policy)
  if (typeof instructions === 'string') return instructions
  const fee = readFee(instructions)
  if (typeof fee === 'string') return fee
  const amountBaseUnits = readTransfer({ instructions, payer: signed.payer }, policy)
  if (typeof amountBaseUnits === 'string') return amountBaseUnits
  return { ...signed, feeLamports: fee.feeLamports, amountBaseUnits, blockhash: message.recentBlockhash }
}

/** Adds the fee payer's signature. An invalid signature is a bug of the signer and fails an assertion. */
export function completeTransaction({ bytes }: PayerSigned, signature: Signature): SignedTransaction {
  const transaction = VersionedTransaction.deserialize(bytes)
  transaction.signatures[0] = signatureBytes(signature)
  const completed = readTransaction(transaction.serialize())
  assert(!isRefusal(completed), 'the fee payer has signed the message of the transaction')
  return completed
}

type Message = VersionedTransaction['message']

function readInstructions(message: Message, { feePayer }: SponsorPolicy): readonly Instruction[] | SponsorProblem {
  const keys = message.staticAccountKeys.map((key) => readAddress(key.toBase58()))
  if (keys[0] !== feePayer) return 'fee_payer'
  if (message.compiledInstructions.length > instructionsMax) return 'length'
  const instructions: Instruction[] = []
  for (const { programIdIndex, accountKeyIndexes, data } of message.compiledInstructions) {
    const program = keys[programIdIndex]
    const accounts = accountKeyIndexes.map((index) => keys[index]).filter((key) => key !== undefined)
    if (program === undefined || accounts.length !== accountKeyIndexes.length) return 'malformed'
    if (program === feePayer || accounts.includes(feePayer)) return 'fee_payer_in_accounts'
    instructions.push({ program, accounts, data })
  }
  return instructions.every(({ program }) => isAllowed(program)) ? instructions : 'program'
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

/**
 * Reads the fee from the compute limit and the compute price. Both are required. Without a limit, each instruction may
 * use 200,000 units.
 */
function readFee(instructions: readonly Instruction[]): { readonly feeLamports: bigint } | SponsorProblem {
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
  const priorityLamports = divideRoundingUp(BigInt(units) * microLamportsPerUnit, microLamports)
  return { feeLamports: BigInt(signersCount) * lamportsPerSignature + priorityLamports }
}

const transferChecked = 12
const transferDataLength = 10
const transferAccounts = 4

function readTransfer({ instructions, payer }: Calls, policy: SponsorPolicy): bigint | SponsorProblem {
  const calls = instructions.filter(({ program }) => tokenPrograms.has(program))
  const [transfer] = calls
  if (transfer === undefined || calls.length !== 1) return 'transfer'
  const { program, accounts, data } = transfer
  if (data[0] !== transferChecked || data.length !== transferDataLength || accounts.length !== transferAccounts)
    return 'transfer'
  const [source, mint, destination, authority] = accounts
  const wallets = mint === undefined ? undefined : policy.receivers.get(mint)
  if (mint === undefined || wallets === undefined) return 'mint'
  const isPayment = wallets.some((wallet) => destination === cachedTokenAccountOf(mint, wallet, program))
  if (!isPayment || source === destination) return 'recipient'
  // Refuse a transfer between wallets of the service, because it pays nothing.
  const isOwn = [...policy.receivers.values()].some((own) => own.includes(payer))
  if (authority !== payer || isOwn) return 'authority'
  const amountBaseUnits = viewOf(data).getBigUint64(1, true)
  return amountBaseUnits === 0n ? 'amount' : amountBaseUnits
}

const tokenAccounts = new Map<string, Address>()

/** The result is cached, because deriving the address takes 0.1 ms or more. */
function cachedTokenAccountOf(mint: Address, wallet: Address, tokenProgram: Address): Address {
  const key = `${mint} ${wallet} ${tokenProgram}`
  const account = tokenAccounts.get(key) ?? tokenAccountOf({ mint, tokenProgram }, wallet)
  tokenAccounts.set(key, account)
  return account
}

/** Reads the mint of the first transfer, and checks nothing else, because the other checks need the terms of this mint. */
function readMint({ compiledInstructions, staticAccountKeys }: Message): Address | undefined {
  const transfer = compiledInstructions.find(
    ({ programIdIndex, data }) =>
      tokenPrograms.has(staticAccountKeys[programIdIndex]?.toBase58() ?? '') && data[0] === transferChecked,
  )
  const [, mintIndex = -1] = transfer?.accountKeyIndexes ?? []
  return readAddress(staticAccountKeys[mintIndex]?.toBase58() ?? '')
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Undefined without a memo. False for more than one memo, or for a memo that is not text. */
function readMemo({ compiledInstructions, staticAccountKeys }: Message): string | undefined | false {
  const memos = compiledInstructions.filter(({ programIdIndex }) =>
    memoPrograms.has(staticAccountKeys[programIdIndex]?.toBase58() ?? ''),
  )
  const [memo] = memos
  if (memo === undefined) return undefined
  if (memos.length !== 1) return false
  try {
    return utf8.decode(memo.data)
  } catch {
    // Refuse a memo that is not UTF-8, as the Memo program does.
    return false
  }
}

function viewOf(data: Uint8Array): DataView {
  return new DataView(data.buffer, data.byteOffset, data.byteLength)
}
