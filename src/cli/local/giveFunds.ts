import {
  createAssociatedTokenAccountIdempotentInstruction,
  createMintToCheckedInstruction,
  getAssociatedTokenAddressSync,
  unpackMint,
} from '@solana/spl-token'
import {
  Connection,
  Keypair,
  LAMPORTS_PER_SOL,
  PublicKey,
  sendAndConfirmTransaction,
  SystemProgram,
  Transaction,
  TransactionInstruction,
} from '@solana/web3.js'
import { UsageProblem } from '@tollbook/client/command/usageProblem'
import { isLoopback } from '@tollbook/client/secureUrl'
import { readAddress } from '@tollbook/core/address'
import { Fault } from '@tollbook/core/fault'
import { randomToken } from '@tollbook/core/id'
import { formatDecimal, parseDecimal } from '@tollbook/core/money'
import { memoProgram } from '@tollbook/core/programs'

export interface Bank {
  readonly rpcUrl: string
  readonly mint: string
  readonly mintAuthority: { readonly secretKey: Uint8Array }
}

/** Amounts are whole tokens and whole SOL, as plain decimals, because the faucet takes them from a command line. */
export interface GiftOrder {
  readonly address: string
  readonly tokens: string
  readonly sol: string
}

export interface Gift extends GiftOrder {
  readonly tokenAccount: string
  readonly signatures: readonly string[]
}

/** Returns the WebSocket URL of a local chain, which uses the port of its RPC URL. */
export function webSocketUrl(rpcUrl: string): string {
  return rpcUrl.replace(/^http/, 'ws')
}

export function connectLocalChain(rpcUrl: string): Connection {
  return new Connection(rpcUrl, { commitment: 'confirmed', wsEndpoint: webSocketUrl(rpcUrl) })
}

/**
 * Gives tokens and SOL to a wallet. Throws a `UsageProblem` if the chain is not on this machine or the order is
 * invalid.
 */
export async function giveFunds(bank: Bank, order: GiftOrder): Promise<Gift> {
  const { rpcUrl } = bank
  if (!isOnThisMachine(rpcUrl))
    throw new UsageProblem('rpcUrl', `the faucet works on a chain on this machine only, and ${rpcUrl} is not on it`)
  const connection = connectLocalChain(rpcUrl)
  const mintAuthority = Keypair.fromSecretKey(bank.mintAuthority.secretKey)
  try {
    const read = await readOrder(connection, bank.mint, order)
    // The mint authority pays the fee and the rent of the token account.
    await topUp(connection, mintAuthority.publicKey)
    const airdrop = read.lamports === 0n ? [] : [await airdropTo(connection, read.wallet, read.lamports)]
    const { tokenAccount, signature } = await mintTo(connection, mintAuthority, read)
    return {
      address: read.wallet.toBase58(),
      tokenAccount: tokenAccount.toBase58(),
      tokens: formatDecimal(read.baseUnits, read.decimals),
      sol: formatDecimal(read.lamports, solDecimals),
      signatures: [...airdrop, signature],
    }
  } catch (cause) {
    if (cause instanceof UsageProblem) throw cause
    throw new Fault(`the local chain at ${rpcUrl} did not give the funds`, { cause, retryable: true })
  }
}

/** True for loopback, and for names without a dot, which are containers in the same Docker network. */
export function isOnThisMachine(rpcUrl: string): boolean {
  const url = URL.parse(rpcUrl)
  return url !== null && (isLoopback(url) || /^[a-z][a-z0-9-]*$/.test(url.hostname))
}

const solDecimals = 9
// Maximum airdrop of the local chain, in lamports. Tokens are bounded by the 64 bits of a token account.
const lamportsMax = 1_000_000n * BigInt(LAMPORTS_PER_SOL)
const baseUnitsMax = 2n ** 64n - 1n

interface ReadOrder {
  readonly wallet: PublicKey
  readonly mint: PublicKey
  readonly program: PublicKey
  readonly decimals: number
  readonly baseUnits: bigint
  readonly lamports: bigint
}

async function readOrder(
  connection: Connection,
  mintText: string,
  { address, tokens, sol }: GiftOrder,
): Promise<ReadOrder> {
  if (readAddress(mintText) === undefined) throw new UsageProblem('mint', `${mintText} is not an address`)
  if (readAddress(address) === undefined) throw new UsageProblem('ADDRESS', `${address} is not a Solana address`)
  const [wallet, mint] = [new PublicKey(address), new PublicKey(mintText)]
  const [account, mintAccount] = await connection.getMultipleAccountsInfo([wallet, mint])
  const owner = account?.owner
  if (owner !== undefined && !owner.equals(SystemProgram.programId))
    throw new UsageProblem(
      'ADDRESS',
      `${address} is not a wallet: the account belongs to the program ${owner.toBase58()}`,
    )
  const lamports = parseDecimal(sol, solDecimals)
  if (lamports === undefined) throw new UsageProblem('--sol', `${sol} is not an amount of SOL such as 1 or 0.5`)
  if (lamports > lamportsMax)
    throw new UsageProblem('--sol', `${sol} is more than 1000000 SOL, the largest airdrop of a local chain`)
  if (mintAccount === undefined || mintAccount === null)
    throw new UsageProblem('mint', `${mintText} is not a mint on this chain`)
  const { owner: program } = mintAccount
  const { decimals } = unpackMint(mint, mintAccount, program)
  const baseUnits = parseDecimal(tokens, decimals)
  if (baseUnits === undefined)
    throw new UsageProblem('TOKENS', `${tokens} is not an amount of tokens with at most ${decimals} decimals`)
  if (baseUnits > baseUnitsMax) throw new UsageProblem('TOKENS', `${tokens} is more than a token account holds`)
  return { wallet, mint, program, decimals, baseUnits, lamports }
}

/** Gives a wallet 1 SOL for fees and the rent of accounts, unless it already has 1 SOL, so that each start may call it. */
export async function topUp(connection: Connection, wallet: PublicKey): Promise<void> {
  if ((await connection.getBalance(wallet)) < LAMPORTS_PER_SOL)
    await airdropTo(connection, wallet, BigInt(LAMPORTS_PER_SOL))
}

export async function airdropTo(connection: Connection, wallet: PublicKey, lamports: bigint): Promise<string> {
  const signature = await connection.requestAirdrop(wallet, Number(lamports))
  await connection.confirmTransaction({ signature, ...(await connection.getLatestBlockhash()) })
  return signature
}

async function mintTo(
  connection: Connection,
  authority: Keypair,
  { wallet, mint, program, decimals, baseUnits }: ReadOrder,
) {
  const { publicKey: payer } = authority
  // `true` permits a wallet without a private key, such as the vault of a multisig.
  const tokenAccount = getAssociatedTokenAddressSync(mint, wallet, true, program)
  // Add a random memo. Without it, two equal gifts with one blockhash would be the same transaction.
  const memo = { programId: new PublicKey(memoProgram), keys: [], data: Buffer.from(randomToken()) }
  const transaction = new Transaction().add(
    new TransactionInstruction(memo),
    createAssociatedTokenAccountIdempotentInstruction(payer, tokenAccount, wallet, mint, program),
    createMintToCheckedInstruction(mint, tokenAccount, payer, baseUnits, decimals, [], program),
  )
  return { tokenAccount, signature: await sendAndConfirmTransaction(connection, transaction, [authority]) }
}
