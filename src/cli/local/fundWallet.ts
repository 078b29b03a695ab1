import { Connection, LAMPORTS_PER_SOL, type PublicKey } from '@solana/web3.js'

const enoughSol = 1

/** Gives a wallet of the local chain SOL for fees. The airdrop lands within two slots. */
export async function fundWallet(rpcUrl: string, wallet: PublicKey): Promise<void> {
  const connection = new Connection(rpcUrl, 'confirmed')
  const lamports = await connection.getBalance(wallet)
  if (lamports < enoughSol * LAMPORTS_PER_SOL) await connection.requestAirdrop(wallet, enoughSol * LAMPORTS_PER_SOL)
}
