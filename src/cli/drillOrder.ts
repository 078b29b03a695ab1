import { resolve } from 'node:path'
import { z } from 'zod'
import { readVerifierKey, type VerifierKey, verifierKeyOf } from '@tollbook/audit/checkpointNote'
import { readTextFile } from '@tollbook/client/command/fileOption'
import { UsageProblem } from '@tollbook/client/command/usageProblem'
import type { DrillOptions } from '../backup/drill.ts'
import type { Config } from '../config.ts'

export interface DrillFlags {
  readonly stanza: string
  readonly targetTime?: string
  readonly receivedWal?: string
  readonly scratch: string
  readonly programs?: string
  readonly checkpoint: readonly string[]
  readonly verifierKey?: string
  readonly database?: string
  readonly superuser: string
}

/**
 * Reads what to drill. Without a flag, the database and the checkpoint file come from the configuration.
 * CHECKPOINT_FILE may not exist yet. A file of `--checkpoint` must exist, because a drill with a wrong path would
 * compare the ledger with nothing, and could still report the backup as sound.
 */
export async function readDrillOrder(
  flags: DrillFlags,
  { ledger, seal }: Pick<Config, 'ledger' | 'seal'>,
): Promise<Omit<DrillOptions, 'repository' | 'clock'>> {
  const { checkpoint, receivedWal, programs, scratch, superuser } = flags
  for (const file of checkpoint) await readTextFile('--checkpoint', file)
  const own = seal.checkpointFile === undefined ? [] : [seal.checkpointFile]
  return {
    targetMs: readTargetTime(flags.targetTime),
    receivedWal: receivedWal === undefined ? undefined : resolve(receivedWal),
    programs,
    scratchFolder: resolve(scratch),
    superuser,
    database: flags.database ?? databaseNameOf(ledger?.databaseUrl) ?? 'tollbook',
    checkpointFiles: checkpoint.length > 0 ? checkpoint : own,
  }
}

const isoTime = z.iso.datetime({ offset: true })

function readTargetTime(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (isoTime.safeParse(text).success) return Date.parse(text)
  throw new UsageProblem('--target-time', `must be a time with its zone, such as 2026-11-26T14:00:00Z (got ${text})`)
}

function databaseNameOf(databaseUrl: string | undefined): string | undefined {
  const name = databaseUrl === undefined ? '' : new URL(databaseUrl).pathname.slice(1)
  return name === '' ? undefined : decodeURIComponent(name)
}

type SignedConfig = Pick<Config, 'chain' | 'seal' | 'receiptSigningKey'>

export function readVerifierKeys(
  { verifierKey }: Pick<DrillFlags, 'verifierKey'>,
  { chain, seal, receiptSigningKey }: SignedConfig,
): readonly VerifierKey[] {
  if (verifierKey !== undefined) {
    const key = readVerifierKey(verifierKey)
    if (key !== undefined) return [key]
    throw new UsageProblem('--verifier-key', 'must be name+id+key, as GET /api/ledger/key names it')
  }
  // The default is the name under which a service without LEDGER_ORIGIN signs, because the key has this name too.
  const origin = seal.origin ?? (chain && `tollbook/${chain.paymentWallet}`)
  if (origin === undefined || receiptSigningKey === undefined) return []
  return [verifierKeyOf(origin, Buffer.from(receiptSigningKey.x, 'base64url'))]
}
