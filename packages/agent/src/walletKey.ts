import { readKeypairFile } from '@tollbook/client/node'
import { newSecretKey } from '@tollbook/client/solana/keypair'
import { type WalletFolder, writeIfAbsent } from './walletFolder.ts'

/** Makes the wallet's key if it is missing, and returns its address. The file has the format of the Solana CLI. */
export async function readOrMakeKey({ key }: WalletFolder): Promise<string> {
  await writeIfAbsent(key, JSON.stringify([...newSecretKey()]))
  return (await readKeypairFile(key)).address
}
