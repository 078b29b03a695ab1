import { spawn } from 'node:child_process'
import { open } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Clock } from '@tollbook/core/clock'
import { readPolicyFile } from '../policy/policyFile.ts'
import { openWalletFolder, type WalletFolder } from '../walletFolder.ts'
import { askWallet } from './socketRequest.ts'

// Use the ending of this file, because the program is TypeScript in the repository and JavaScript in the published
// package.
const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
const mainFile = fileURLToPath(new URL(`../main.${extension}`, import.meta.url))
const pollMs = 50
const startMaxMs = 30_000
const privateFile = 0o600

/**
 * Starts the process of the wallet, and waits until it answers. If several callers start it at once, only one process
 * remains.
 */
export async function startWalletProcess(folder: WalletFolder, clock: Clock): Promise<void> {
  await openWalletFolder(folder)
  // Check the policy here, because the process would report its mistakes to the log file only.
  await readPolicyFile(folder.policy)
  const log = await open(folder.log, 'a', privateFile)
  try {
    const words = [mainFile, 'wallet', 'serve', '--folder', folder.path, '--exit-when-idle']
    // Detach the process, so that it outlives the window that starts it.
    spawn(process.execPath, words, { detached: true, stdio: ['ignore', log.fd, log.fd] }).unref()
  } finally {
    await log.close()
  }
  const deadlineMs = clock.monotonicMs() + startMaxMs
  while ((await askWallet(folder.socket)) === undefined) {
    if (clock.monotonicMs() > deadlineMs)
      throw new Error(`the wallet process does not start; ${folder.log} has the reason`)
    await clock.sleep(pollMs)
  }
}
