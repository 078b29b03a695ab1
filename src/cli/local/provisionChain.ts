import {
  createAssociatedTokenAccountIdempotentInstruction,
  createInitializeMint2Instruction,
  createMintToInstruction,
  getAssociatedTokenAddressSync,
  MINT_SIZE,
  TOKEN_PROGRAM_ID,
} from '@solana/spl-token'
import {
  type Connection,
  type Keypair,
  LAMPORTS_PER_SOL,
  sendAndConfirmTransaction,
  SystemProgram,
  Transaction,
} from '@solana/web3.js'
import type { ServiceConfig } from '../../config.ts'
import { airdropTo, connectLocalChain, webSocketUrl } from './giveFunds.ts'
import type { Home } from './home.ts'

export interface LocalWallets {
  readonly mint: Keypair
  readonly mintAuthority: Keypair
  readonly paymentWallet: Keypair
  readonly tabWallet: Keypair
  readonly demoWallet: Keypair
}

export interface ProvisionedChain {
  readonly chain: Omit<ServiceConfig['chain'], 'commitment'>
  readonly tabWallet: string
  /** Facts for `local.json`: the URL of the chain, and the wallets whose keys are in the home. */
  readonly facts: object
}

/** Creates the mint and the accounts with the keys of the home, if the chain does not have the mint yet. */
export async function provisionFromHome(home: Home, rpcUrl: string): Promise<ProvisionedChain> {
  const [mint, mintAuthority, paymentWallet, tabWallet, demoWallet] = await Promise.all([
    home.keypair('token-mint'),
    home.keypair('mint-authority'),
    home.keypair('payment-wallet'),
    home.keypair('tab-wallet'),
    home.keypair('demo-wallet'),
  ])
  const connection = connectLocalChain(rpcUrl)
  await provisionChain(connection, {
    mint: mint.keypair,
    mintAuthority: mintAuthority.keypair,
    paymentWallet: paymentWallet.keypair,
    tabWallet: tabWallet.keypair,
    demoWallet: demoWallet.keypair,
  })
  return {
    chain: {
      rpcUrls: [rpcUrl],
      tokenMint: mint.keypair.publicKey.toBase58(),
      paymentWallet: paymentWallet.keypair.publicKey.toBase58(),
    },
    tabWallet: tabWallet.keypair.publicKey.toBase58(),
    facts: {
      rpcUrl,
      wsUrl: webSocketUrl(rpcUrl),
      paymentWalletKeypairPath: paymentWallet.path,
      tabWallet: tabWallet.keypair.publicKey.toBase58(),
      demoWallet: { address: demoWallet.keypair.publicKey.toBase58(), keypairPath: demoWallet.path },
      mintAuthorityKeypairPath: mintAuthority.path,
    },
  }
}

const localDecimals = 6
const demoTokens = 100_000n
const demoSol = 10

/** Creates the token and the accounts of the wallets. If the token exists, only opens a missing account for tabs. */
export async function provisionChain(connection: Connection, wallets: LocalWallets): Promise<void> {
  const { mint, mintAuthority, demoWallet } = wallets
  if ((await connection.getAccountInfo(mint.publicKey)) !== null) return openTabAccount(connection, wallets)
  // Fund both wallets at the same time, because each airdrop waits for one or two slots.
  const holders = [mintAuthority, demoWallet]
  await Promise.all(
    holders.map(({ publicKey }) => airdropTo(connection, publicKey, BigInt(demoSol * LAMPORTS_PER_SOL))),
  )
  await sendAndConfirmTransaction(connection, await firstTransaction(connection, wallets), [mintAuthority, mint])
}

/** Opens the tab account of a home that a release without tabs created. Does nothing if the account exists. */
async function openTabAccount(connection: Connection, { mint, mintAuthority, tabWallet }: LocalWallets): Promise<void> {
  const account = getAssociatedTokenAddressSync(mint.publicKey, tabWallet.publicKey)
  if ((await connection.getAccountInfo(account)) !== null) return
  const [payer, owner] = [mintAuthority.publicKey, tabWallet.publicKey]
  const open = createAssociatedTokenAccountIdempotentInstruction(payer, account, owner, mint.publicKey)
  await sendAndConfirmTransaction(connection, new Transaction().add(open), [mintAuthority])
}

/** Creates mint and accounts in one transaction, so that an interrupted start leaves either all of them or nothing. */
async function firstTransaction(connection: Connection, wallets: LocalWallets): Promise<Transaction> {
  const { mint, mintAuthority, paymentWallet, tabWallet, demoWallet } = wallets
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
    open(tabWallet),
    open(demoWallet),
    createMintToInstruction(mint.publicKey, accountOf(demoWallet), payer, demoTokens * 10n ** BigInt(localDecimals)),
  )
}
