import {
  createAssociatedTokenAccountIdempotentInstruction,
  createMintToCheckedInstruction,
  getAssociatedTokenAddressSync,
  MINT_SIZE,
  MintLayout,
  TOKEN_PROGRAM_ID,
} from '@solana/spl-token'
import { type Keypair, PublicKey, sendAndConfirmTransaction, Transaction } from '@solana/web3.js'
import { connectLocalChain } from './giveFunds.ts'

/** USDC of devnet. Clients of x402 know this address, so they pay on the local chain without an option. */
export const sampleDollarMint = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU'

const decimals = 6
const demoBaseUnits = 1_000n * 10n ** BigInt(decimals)

/**
 * Returns the account of the sample dollar. The chain starts with it, because no process here has the key of its
 * address. Its authority is that of the token, so that the faucet can mint it.
 */
export function sampleDollarAccount(mintAuthority: Keypair) {
  const data = Buffer.alloc(MINT_SIZE)
  MintLayout.encode(
    {
      mintAuthorityOption: 1,
      mintAuthority: mintAuthority.publicKey,
      supply: 0n,
      decimals,
      isInitialized: true,
      freezeAuthorityOption: 0,
      freezeAuthority: PublicKey.default,
    },
    data,
  )
  return { address: sampleDollarMint, owner: TOKEN_PROGRAM_ID.toBase58(), data }
}

interface DollarWallets {
  readonly mintAuthority: Keypair
  readonly paymentWallet: PublicKey
  readonly tabWallet: PublicKey
  readonly demoWallet: PublicKey
}

/** Opens the accounts of payments and tabs for the sample dollar, and gives the demo wallet dollars. Does this once. */
export async function provisionDollar(rpcUrl: string, wallets: DollarWallets): Promise<void> {
  const { mintAuthority, paymentWallet, tabWallet, demoWallet } = wallets
  const connection = connectLocalChain(rpcUrl)
  const mint = new PublicKey(sampleDollarMint)
  const accountOf = (owner: PublicKey) => getAssociatedTokenAddressSync(mint, owner)
  if ((await connection.getAccountInfo(accountOf(tabWallet))) !== null) return
  const payer = mintAuthority.publicKey
  const open = (owner: PublicKey) =>
    createAssociatedTokenAccountIdempotentInstruction(payer, accountOf(owner), owner, mint)
  const transaction = new Transaction().add(
    open(paymentWallet),
    open(tabWallet),
    open(demoWallet),
    createMintToCheckedInstruction(mint, accountOf(demoWallet), payer, demoBaseUnits, decimals),
  )
  await sendAndConfirmTransaction(connection, transaction, [mintAuthority])
}
