import { createMint, getOrCreateAssociatedTokenAccount, mintTo } from '@solana/spl-token'
import { type Connection, Keypair, type PublicKey } from '@solana/web3.js'

export const confirmed = { commitment: 'confirmed' } as const
export const decimals = 6

export interface Purse {
  /** Has SOL, and a million base units in `source`. */
  readonly payer: Keypair
  readonly mint: PublicKey
  readonly source: PublicKey
  /** An empty account of another wallet, `owner`. */
  readonly destination: PublicKey
  readonly owner: PublicKey
}

/** A mint and two accounts, made by spl-token with confirmations over WebSocket: the chain needs a slot timer. */
export async function createPurse(connection: Connection, program: PublicKey): Promise<Purse> {
  const payer = Keypair.generate()
  const owner = Keypair.generate().publicKey
  const signature = await connection.requestAirdrop(payer.publicKey, 10_000_000_000)
  await connection.confirmTransaction({ signature, ...(await connection.getLatestBlockhash()) }, 'confirmed')
  const mint = await createMint(
    connection,
    payer,
    payer.publicKey,
    null,
    decimals,
    Keypair.generate(),
    confirmed,
    program,
  )
  const accountOf = async (holder: PublicKey): Promise<PublicKey> =>
    (await getOrCreateAssociatedTokenAccount(connection, payer, mint, holder, false, 'confirmed', confirmed, program))
      .address
  const source = await accountOf(payer.publicKey)
  const destination = await accountOf(owner)
  await mintTo(connection, payer, mint, source, payer, 1_000_000n, [], confirmed, program)
  return { payer, mint, source, destination, owner }
}
