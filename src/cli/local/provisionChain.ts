import {
  createAssociatedTokenAccountIdempotentInstruction,
  createInitializeMint2Instruction,
  createMintToInstruction,
  getAssociatedTokenAddressSync,
  MINT_SIZE,
  TOKEN_PROGRAM_ID,
} from '@solana/spl-token'
import {
  Connection,
  type Keypair,
  LAMPORTS_PER_SOL,
  sendAndConfirmTransaction,
  SystemProgram,
  Transaction,
} from '@solana/web3.js'

/** Keys that exist on a local chain only. */
export interface LocalWallets {
  readonly mint: Keypair
  readonly mintAuthority: Keypair
  readonly paymentWallet: Keypair
  readonly demoWallet: Keypair
}

const localDecimals = 6
const demoTokens = 100_000n
const demoSol = 10

/** Puts the service token and its first holders on a new local chain. Does nothing on one that has them. */
export async function provisionChain(
  urls: { readonly rpcUrl: string; readonly wsUrl: string },
  wallets: LocalWallets,
): Promise<void> {
  const connection = new Connection(urls.rpcUrl, { commitment: 'confirmed', wsEndpoint: urls.wsUrl })
  const { mint, mintAuthority, demoWallet } = wallets
  if ((await connection.getAccountInfo(mint.publicKey)) !== null) return
  // Both at once: each waits for a slot or two.
  await Promise.all([fund(connection, mintAuthority, demoSol), fund(connection, demoWallet, demoSol)])
  await sendAndConfirmTransaction(connection, await firstTransaction(connection, wallets), [mintAuthority, mint])
}

async function fund(connection: Connection, wallet: Keypair, sol: number): Promise<void> {
  const signature = await connection.requestAirdrop(wallet.publicKey, sol * LAMPORTS_PER_SOL)
  await connection.confirmTransaction({ signature, ...(await connection.getLatestBlockhash()) })
}

/** One transaction, so that a start that is cut off leaves all of it or nothing. */
async function firstTransaction(connection: Connection, wallets: LocalWallets): Promise<Transaction> {
  const { mint, mintAuthority, paymentWallet, demoWallet } = wallets
  const payer = mintAuthority.publicKey
  const accountOf = (owner: Keypair) => getAssociatedTokenAddressSync(mint.publicKey, owner.publicKey)
  const open = (owner: Keypair) =>
    createAssociatedTokenAccountIdempotentInstruction(payer, accountOf(owner), owner.publicKey, mint.publicKey)
  const lamports = await connection.getMinimumBalanceForRentExemption(MINT_SIZE)
  return new Transaction().add(
    SystemProgram.createAccount({
      fromPubkey: payer,
      newAccountPubkey: mint.publicKey,
      space: MINT_SIZE,
      lamports,
      programId: TOKEN_PROGRAM_ID,
    }),
    createInitializeMint2Instruction(mint.publicKey, localDecimals, payer, null),
    open(paymentWallet),
    open(demoWallet),
    createMintToInstruction(mint.publicKey, accountOf(demoWallet), payer, demoTokens * 10n ** BigInt(localDecimals)),
  )
}
