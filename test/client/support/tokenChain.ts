import {
  createInitializeMint2Instruction,
  createInitializeTransferFeeConfigInstruction,
  ExtensionType,
  getAssociatedTokenAddressSync,
  getMintLen,
} from '@solana/spl-token'
import {
  Connection,
  Keypair,
  type PublicKey,
  sendAndConfirmTransaction,
  SystemProgram,
  Transaction,
} from '@solana/web3.js'
import { giveFunds } from '../../../src/cli/local/giveFunds.ts'
import { type LocalChain, startLocalChain } from '@tollbook/localnet/localChain'
import { afterFile } from '../../support/afterFile.ts'

export interface TokenKind {
  readonly program: PublicKey
  /** Hundredths of a percent withheld from each transfer. */
  readonly feeBasisPoints?: number
  readonly maximumFeeBaseUnits?: bigint
}

/** A local chain with one mint, a payer who holds tokens and SOL, and a payment wallet without a token account. */
export interface TokenChain {
  readonly chain: LocalChain
  readonly connection: Connection
  readonly program: PublicKey
  readonly mint: PublicKey
  readonly mintAuthority: Keypair
  readonly payer: Keypair
  readonly paymentWallet: PublicKey
  readonly paymentKeypair: Keypair
  readonly paymentTokenAccount: PublicKey
}

const tokenDecimals = 6

export async function openTokenChain(kind: TokenKind): Promise<TokenChain> {
  const chain = await startLocalChain({ slotMs: 60 })
  afterFile(() => chain.close())
  const connection = new Connection(chain.rpcUrl, { commitment: 'confirmed', wsEndpoint: chain.wsUrl })
  const [mint, mintAuthority, payer] = [Keypair.generate(), Keypair.generate(), Keypair.generate()]
  const paymentKeypair = Keypair.generate()
  const { publicKey: paymentWallet } = paymentKeypair
  const signature = await connection.requestAirdrop(mintAuthority.publicKey, 1_000_000_000)
  await connection.confirmTransaction({ signature, ...(await connection.getLatestBlockhash()) })
  const transaction = await mintTransaction(connection, kind, {
    mint: mint.publicKey,
    authority: mintAuthority.publicKey,
  })
  await sendAndConfirmTransaction(connection, transaction, [mintAuthority, mint])
  const options = { rpcUrl: chain.rpcUrl, mint: mint.publicKey.toBase58(), mintAuthority }
  await giveFunds(options, { address: payer.publicKey.toBase58(), tokens: '1000', sol: '1' })
  const { program } = kind
  const paymentTokenAccount = getAssociatedTokenAddressSync(mint.publicKey, paymentWallet, true, program)
  const accounts = { mint: mint.publicKey, mintAuthority, payer, paymentWallet, paymentKeypair, paymentTokenAccount }
  return { chain, connection, program, ...accounts }
}

async function mintTransaction(
  connection: Connection,
  { program, feeBasisPoints, maximumFeeBaseUnits = 2n ** 63n }: TokenKind,
  { mint, authority }: { readonly mint: PublicKey; readonly authority: PublicKey },
): Promise<Transaction> {
  const space = getMintLen(feeBasisPoints === undefined ? [] : [ExtensionType.TransferFeeConfig])
  const lamports = await connection.getMinimumBalanceForRentExemption(space)
  const transaction = new Transaction().add(
    SystemProgram.createAccount({ fromPubkey: authority, newAccountPubkey: mint, space, lamports, programId: program }),
  )
  if (feeBasisPoints !== undefined) {
    const fee = [authority, authority, feeBasisPoints, maximumFeeBaseUnits, program] as const
    transaction.add(createInitializeTransferFeeConfigInstruction(mint, ...fee))
  }
  return transaction.add(createInitializeMint2Instruction(mint, tokenDecimals, authority, null, program))
}
