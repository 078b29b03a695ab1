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

/**
 * Mint of the sample dollar: the address of USDC on devnet. Clients of x402 know this address, so they pay on the local
 * chain without an option.
 */
export const sampleDollarMint = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU'

const decimals = 6
const demoBaseUnits = 1_000n * 10n ** BigInt(decimals)

/**
 * Returns the mint account of the sample dollar. The chain starts with this account, because its address belongs to a
 * key that local mode does not have. The mint authority is the same as for the token, so that the faucet can mint
 * dollars.
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

/**
 * Opens the accounts for the sample dollar and funds the demo wallet, in one transaction. Does nothing if the account
 * for tabs exists, because all accounts then exist.
 */
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
