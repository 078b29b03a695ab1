import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { unlessCode } from '@tollbook/client/fileError'
import { makeFolder } from '@tollbook/client/folder'
import { randomToken } from '@tollbook/core/id'

const privateFile = 0o600

export type WalletFolder = Readonly<ReturnType<typeof walletFolder>>

export function walletFolder(path: string) {
  const within = (name: string) => join(path, name)
  return {
    path,
    policy: within('policy.json'),
    key: within('wallet.json'),
    payments: within('payments'),
    receipts: within('receipts.jsonl'),
    socket: within('wallet.sock'),
    log: within('wallet.log'),
    proxyKey: within('proxy.key'),
  }
}

/** Creates the folder for this user only, so that no other user can reach its socket. An existing folder keeps its mode. */
export function openWalletFolder({ path }: WalletFolder): Promise<void> {
  return makeFolder(path)
}

/** Returns the key of the proxy. The key is made once, so that base URLs that contain it stay valid. */
export async function readOrMakeProxyKey({ proxyKey }: WalletFolder): Promise<string> {
  await writeIfAbsent(proxyKey, randomToken())
  const key = (await readFile(proxyKey, 'utf8')).trim()
  // A full disk can leave an empty file, and every program of this machine would know its key.
  if (key === '') throw new Error(`${proxyKey} has no key: remove the file, and start the proxy again`)
  return key
}

/** Returns false, and changes nothing, if the file exists. */
export async function writeIfAbsent(path: string, text: string): Promise<boolean> {
  const written = writeFile(path, `${text}\n`, { mode: privateFile, flag: 'wx', flush: true }).then(() => true)
  return (await unlessCode('EEXIST', written)) ?? false
}
