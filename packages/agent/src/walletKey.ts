import { readKeypairFile } from '@tollbook/client/node'
import { newSecretKey } from '@tollbook/client/solana/keypair'
import { type WalletFolder, writeIfAbsent } from './walletFolder.ts'

/** Returns the address of the wallet. Makes its key if it does not exist, in the format of the Solana CLI. */
export async function readOrMakeKey({ key }: WalletFolder): Promise<string> {
  await writeIfAbsent(key, JSON.stringify([...newSecretKey()]))
  return (await readKeypairFile(key)).address
}
