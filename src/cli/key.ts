import { readFile } from 'node:fs/promises'
import { Command } from 'commander'
import { parseJson } from '@tollbook/core/json'
import { type PublicReceiptKey, publicReceiptKey, receiptKeyId } from '../settings/receiptKeys.ts'
import type { CommandDeps } from './commandDeps.ts'
import { makeReceiptKey } from './local/home.ts'
import { settingCommand } from './settingChange.ts'
import { writeOutput } from './writeOutput.ts'
import { UsageProblem } from '@tollbook/client/command/usageProblem'

export function keyCommand(deps: CommandDeps): Command {
  return settingCommand(deps, {
    setting: 'receipt-key',
    command: 'key',
    description: 'make, list and rotate the key that signs receipts and checkpoints',
    values: 'keys',
    change: {
      verb: 'rotate',
      description: 'record the public key with which instances sign from a given time',
      argument: '<public-key>',
      argumentDescription:
        'its `x` (after -- if it starts with a hyphen), or a file with the JWK; of a private key only the public part is read',
      read: readPublicKey,
    },
    more: [
      new Command('new')
        .description('make a private key for RECEIPT_SIGNING_KEY (Ed25519, JWK); keep it secret')
        .option('--output <file>', 'write it to a new file that only this user can read, instead of stdout')
        .action((flags: { readonly output?: string }) => makeKey(deps, flags.output)),
    ],
  })
}

async function makeKey({ stdout, stderr, setExitCode }: CommandDeps, output: string | undefined): Promise<void> {
  const key = makeReceiptKey()
  const text = `${JSON.stringify(key)}\n`
  if (output === undefined) stdout.write(text)
  else await writeOutput(output, text, true)
  const where = output === undefined ? '' : `The key is in ${output}. `
  // Advice goes to stderr, so that stdout has only the key.
  stderr.write(
    `${where}For a new ledger, set RECEIPT_SIGNING_KEY${output === undefined ? ' to it' : `_FILE=${output}`}. ` +
      `To replace the key of a ledger: npx tollbook key rotate ${key.x}\n` +
      `Key id of its receipts: ${receiptKeyId(publicReceiptKey.parse(key))}\n`,
  )
  setExitCode(0)
}

async function readPublicKey(text: string): Promise<PublicReceiptKey> {
  const bare = publicReceiptKey.safeParse({ kty: 'OKP', crv: 'Ed25519', x: text }).data
  if (bare !== undefined) return bare
  const content = await readFile(text, 'utf8').catch((cause: unknown) => {
    throw new UsageProblem(
      'PUBLIC-KEY',
      `is neither 43 characters of base64url nor a file that can be read (got ${text})`,
      { cause },
    )
  })
  const key = publicReceiptKey.safeParse(parseJson(content)).data
  if (key === undefined) throw new UsageProblem('PUBLIC-KEY', `${text} is not an Ed25519 key as a JWK`)
  return key
}
