import { z } from 'zod'
import { assertPresent } from '@tollbook/core/assert'
import { type Clock, systemClock } from '@tollbook/core/clock'
import { Fault } from '@tollbook/core/fault'
import { formatDecimal, parseDecimal } from '@tollbook/core/money'
import { type Address, readAddress } from '@tollbook/core/address'
import { systemProgram } from '@tollbook/core/programs'
import { readSignature, type Signature } from '@tollbook/core/signature'
import { connectPayerChain, type MintFacts, type PayerChain } from './payerChain.ts'
import { nonceMemo } from './paymentMemo.ts'
import { isLoopback } from './secureUrl.ts'
import { type Keypair, readSecretKey, type SecretKey } from './solana/keypair.ts'
import { associatedTokenAccount } from './solana/programAddress.ts'
import { createTokenAccount, memoInstruction, mintToChecked } from './solana/tokenInstruction.ts'
import { buildTransaction, feePayerSignature, signTransaction } from './solana/transaction.ts'
import { createSolanaRpc, type Fetch, type SolanaRpc } from './solanaRpc.ts'

export interface FaucetOptions {
  readonly rpcUrl: string
  readonly mint: string
  readonly mintAuthority: SecretKey
  readonly fetch?: Fetch
  readonly clock?: Clock
}

/** Whole tokens and SOL, as plain decimals. */
export interface FaucetRequest {
  readonly address: string
  readonly tokens: string
  readonly sol: string
}

/** Result of the faucet. Amounts are plain decimals of whole tokens and whole SOL. */
export interface Funding {
  readonly address: string
  readonly tokenAccount: string
  readonly tokens: string
  readonly sol: string
  readonly signatures: readonly string[]
}

/** The faucet rejects the request; `field` names the wrong parameter. */
export interface FaucetProblem {
  readonly field: 'rpcUrl' | 'mint' | 'address' | 'tokens' | 'sol'
  readonly message: string
}

interface Faucet {
  readonly rpc: SolanaRpc
  readonly chain: PayerChain
  readonly clock: Clock
  readonly mintAuthority: Keypair
}

interface Gift {
  readonly address: Address
  readonly mint: Address
  readonly facts: MintFacts
  readonly baseUnits: bigint
  readonly lamports: bigint
}

/** Gives out SOL and new tokens on a local chain. Refuses any other chain. */
export async function fundWallet(options: FaucetOptions, request: FaucetRequest): Promise<Funding | FaucetProblem> {
  const { rpcUrl, fetch = globalThis.fetch, clock = systemClock } = options
  if (!URL.canParse(rpcUrl) || !isOnThisMachine(new URL(rpcUrl)))
    return problem('rpcUrl', `the faucet works on a chain on this machine only, and ${rpcUrl} is not on it`)
  const [rpc, chain] = [createSolanaRpc({ url: rpcUrl, fetch }), connectPayerChain({ rpcUrl, fetch })]
  const gift = await readGift({ rpc, chain }, options.mint, request)
  if ('field' in gift) return gift

  const mintAuthority = readSecretKey(options.mintAuthority)
  const faucet = { rpc, chain, clock, mintAuthority }
  const { address: authority } = mintAuthority
  if ((await lamportsOf(faucet, authority)) < feeReserveLamports) await sendSol(faucet, authority, lamportsPerSol)
  const airdrop = gift.lamports === 0n ? [] : [await sendSol(faucet, gift.address, gift.lamports)]
  const { tokenAccount, signature } = await sendTokens(faucet, gift)
  return {
    address: gift.address,
    tokenAccount,
    tokens: formatDecimal(gift.baseUnits, gift.facts.decimals),
    sol: formatDecimal(gift.lamports, solDecimals),
    signatures: [...airdrop, signature],
  }
}

/** True for loopback and for names without a dot, which are containers of the same Docker network. */
function isOnThisMachine(url: URL): boolean {
  return isLoopback(url) || /^[a-z][a-z0-9-]*$/.test(url.hostname)
}

const solDecimals = 9
// Limit of an airdrop on the local chain, which also fits the 64 bits of a token account.
const lamportsMax = 1_000_000n * 1_000_000_000n
const baseUnitsMax = 2n ** 64n - 1n
const lamportsPerSol = 1_000_000_000n
/** Reserve of the mint authority for rent (about 2,000,000 lamports an account) and fees. */
const feeReserveLamports = 10_000_000

function problem(field: FaucetProblem['field'], message: string): FaucetProblem {
  return { field, message }
}

async function readGift(
  { rpc, chain }: Pick<Faucet, 'rpc' | 'chain'>,
  mintText: string,
  request: FaucetRequest,
): Promise<Gift | FaucetProblem> {
  const [mint, address] = [readAddress(mintText), readAddress(request.address)]
  if (mint === undefined) return problem('mint', `${mintText} is not an address`)
  if (address === undefined) return problem('address', `${request.address} is not a Solana address`)
  const owner = await ownerOf(rpc, address)
  if (owner !== undefined && owner !== systemProgram)
    return problem('address', `${address} is not a wallet: the account belongs to the program ${owner}`)
  const lamports = parseDecimal(request.sol, solDecimals)
  if (lamports === undefined) return problem('sol', `${request.sol} is not an amount of SOL such as 1 or 0.5`)
  if (lamports > lamportsMax)
    return problem('sol', `${request.sol} is more than 1000000 SOL, the largest airdrop of a local chain`)
  const { mint: facts } = await chain.readToken({ mint, paymentTokenAccount: address })
  if (facts === undefined) return problem('mint', `${mint} is not a mint on this chain`)
  const baseUnits = parseDecimal(request.tokens, facts.decimals)
  if (baseUnits === undefined)
    return problem('tokens', `${request.tokens} is not an amount of tokens with at most ${facts.decimals} decimals`)
  if (baseUnits > baseUnitsMax) return problem('tokens', `${request.tokens} is more than a token account holds`)
  return { address, mint, facts, baseUnits, lamports }
}

const accountJson = z.object({ value: z.object({ owner: z.string() }).nullable() })

/** The program that owns the account. Undefined for an address that holds nothing yet. */
async function ownerOf(rpc: SolanaRpc, address: Address): Promise<string | undefined> {
  const options = { commitment: 'confirmed', encoding: 'base64' }
  const { value } = await rpc.call('getAccountInfo', [address, options], accountJson)
  return value?.owner
}

async function lamportsOf({ rpc }: Faucet, address: Address): Promise<number> {
  const options = { commitment: 'confirmed' }
  const { value } = await rpc.call('getBalance', [address, options], z.object({ value: z.number() }))
  return value
}

async function sendSol(faucet: Faucet, address: Address, lamports: bigint): Promise<Signature> {
  const text = await faucet.rpc.call('requestAirdrop', [address, Number(lamports)], z.string())
  const signature = assertPresent(readSignature(text), 'an airdrop has a signature')
  await waitUntilConfirmed(faucet, signature)
  return signature
}

async function sendTokens(faucet: Faucet, { address, mint, facts, baseUnits }: Gift) {
  const { chain, mintAuthority } = faucet
  const { address: authority } = mintAuthority
  const token = { mint, ...facts }
  const owner = { wallet: address, ...token }
  const account = associatedTokenAccount(owner)
  const { blockhash } = await chain.latestBlockhash()
  const instructions = [
    memoInstruction(nonceMemo()),
    createTokenAccount(authority, account, owner),
    mintToChecked(token, { account, authority, baseUnits }),
  ]
  const transaction = signTransaction(buildTransaction({ feePayer: authority, blockhash, instructions }), [
    mintAuthority,
  ])
  const signature = assertPresent(feePayerSignature(transaction, authority), 'it is signed')
  await chain.send(transaction, { preflight: true })
  await waitUntilConfirmed(faucet, signature)
  return { tokenAccount: account, signature }
}

// A local chain confirms within two slots of 400 ms.
const pollMs = 200
const pollsMax = 150

async function waitUntilConfirmed({ chain, clock }: Faucet, signature: Signature): Promise<void> {
  for (let poll = 1; poll <= pollsMax; poll++) {
    const status = await chain.findStatus(signature)
    if (status === 'confirmed') return
    if (status === 'failed') throw new Fault(`transaction ${signature} failed on chain`, { retryable: false })
    await clock.sleep(pollMs)
  }
  throw new Fault(`transaction ${signature} was not confirmed in ${(pollMs * pollsMax) / 1000} s`, { retryable: true })
}
