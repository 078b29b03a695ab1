import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { policyShape } from '@tollbook/agent/policy/policy'
import { type WalletFolder, walletFolder } from '@tollbook/agent/walletFolder'
import { makeScratchDirectory } from '../../support/scratchDirectory.ts'

export type PolicyFileContent = z.input<typeof policyShape>

/** A folder with the key of a wallet that has tokens, and the policy of its owner. */
export async function makeAgentFolder(secretKey: Uint8Array, policy: PolicyFileContent): Promise<WalletFolder> {
  const folder = walletFolder(join(await makeScratchDirectory(), 'wallet'))
  await mkdir(folder.path, { mode: 0o700 })
  await writeFile(folder.key, JSON.stringify([...secretKey]), { mode: 0o600 })
  await writePolicy(folder, policy)
  return folder
}

/** Replaces the policy, as its owner does with an editor. */
export async function writePolicy({ policy: path }: WalletFolder, policy: object): Promise<void> {
  await writeFile(path, JSON.stringify(policy))
  await chmod(path, 0o600)
}

const price = z.object({ data: z.object({ mint: z.string() }) })

/** The token of a service. */
export async function mintOf(baseUrl: string): Promise<string> {
  const response = await fetch(`${baseUrl}/api/token/price`)
  return price.parse(await response.json()).data.mint
}
