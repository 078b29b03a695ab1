import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder } from '@tollbook/client/folder'
import { randomToken } from '@tollbook/core/id'

// A process of another user must not reach the socket, whatever its mode is.
const privateFolder = 0o700
const privateFile = 0o600

export type WalletFolder = Readonly<ReturnType<typeof walletFolder>>

/** Paths of one wallet: its key, its policy, its payments and the socket of its process. */
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

export function openWalletFolder({ path }: WalletFolder): Promise<void> {
  return makeFolder(path, privateFolder)
}

/** Secret that a program gives to the proxy. Made once, so that base URLs stay valid. */
export async function readOrMakeProxyKey({ proxyKey }: WalletFolder): Promise<string> {
  await writeIfAbsent(proxyKey, randomToken())
  return (await readFile(proxyKey, 'utf8')).trim()
}

/** Returns true if it wrote the file. Never replaces one. */
export async function writeIfAbsent(path: string, text: string): Promise<boolean> {
  try {
    await writeFile(path, `${text}\n`, { mode: privateFile, flag: 'wx', flush: true })
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}
