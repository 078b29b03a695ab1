import { Command } from 'commander'
import { z } from 'zod'
import { verifyClosing } from '@tollbook/client/verifyClosing'
import { verifyInclusion } from '@tollbook/client/verifyInclusion'
import { type VerifiedReceipt, verifyReceipt } from '@tollbook/client/verifyReceipt'
import { encodeBase64 } from '@tollbook/core/base64'
import type { CommandDeps } from './commandDeps.ts'
import { readLocal } from './localJson.ts'
import { readJsonFile } from '@tollbook/client/command/fileOption'
import { exitCodeOf, printResult } from './runCommand.ts'
import { UsageProblem } from '@tollbook/client/command/usageProblem'

interface VerifyOptions {
  readonly proof?: string
  readonly key?: string
  readonly origin?: string
  readonly previous?: string
}

/** Exit code for an invalid receipt. `tollbook pay` uses the same code. */
const invalidExitCode = 9

/** Works offline with a public key only, so that the holder of a receipt need not ask the service whether it is valid. */
export function verifyCommand(deps: CommandDeps): Command {
  return new Command('verify')
    .description(
      'verify a receipt, its inclusion in the ledger, or a closing statement; offline, with the public key of the service',
    )
    .argument('<file>', 'file with a receipt, a closing statement, or the whole answer that contains it')
    .option('--proof <file>', 'answer of /api/ledger/inclusion/<position>; receipt.ledger has the position')
    .option('--key <file>', 'key of the service, JWK or JWKS (default: local mode)')
    .option('--origin <name>', 'reject checkpoints of any other log')
    .option('--previous <file>', 'closing statement of the month before: checks that its balances are carried over')
    .addHelpText('after', verifyExitHelp)
    .action(async (receipt: string, options: VerifyOptions) => {
      deps.setExitCode(await exitCodeOf(deps, () => verify(deps, receipt, options)))
    })
}

const verifyExitHelp = `
Exit codes:
  0  everything that was given verifies
  2  wrong usage: an option or a file
  9  it does not verify; the problem says why`

async function verify(deps: CommandDeps, receiptPath: string, options: VerifyOptions): Promise<number> {
  const keys = await readKeys(deps, options)
  const json = await readJsonFile('FILE', receiptPath)
  const closing = closingOf(json)
  const { words, ...finding } =
    closing === undefined
      ? await receiptFindingOf(receiptOf(json), keys, options)
      : await closingFinding(closing, keys, options)
  printResult(deps, finding, words)
  return finding.valid ? 0 : invalidExitCode
}

async function receiptFindingOf(receipt: unknown, keys: unknown, options: VerifyOptions): Promise<VerifyFinding> {
  if (options.previous !== undefined) throw new UsageProblem('--previous', 'goes with a closing statement')
  return options.proof === undefined
    ? receiptFinding(await verifyReceipt({ receipt, keys }))
    : inclusionFinding({ receipt, keys }, options.proof, options.origin)
}

async function closingFinding(closing: unknown, keys: unknown, options: VerifyOptions): Promise<VerifyFinding> {
  if (options.proof !== undefined)
    throw new UsageProblem('--proof', 'goes with a receipt; a closing statement has its checkpoint')
  const previous =
    options.previous === undefined ? undefined : closingOf(await readJsonFile('--previous', options.previous))
  if (options.previous !== undefined && previous === undefined)
    throw new UsageProblem('--previous', `${options.previous} is not a closing statement`)
  const pinned = options.origin === undefined ? {} : { expectedOrigin: options.origin }
  const verdict = await verifyClosing({ closing, keys, ...pinned, ...(previous === undefined ? {} : { previous }) })
  if (!verdict.valid) return { ...verdict, words: `not valid: ${verdict.message}` }
  const { origin, month, status, position, treeSize, restatedCount, recordedLaterCount } = verdict.statement
  const carried = previous === undefined ? '' : '; its opening balances are the closing balances of the month before'
  return {
    valid: true,
    closing: { origin, month, status, position, treeSize, restatedCount, recordedLaterCount },
    isCarriedOver: previous !== undefined,
    words: `valid: ${status} statement of ${month}, events 1 to ${position} of the ${treeSize} that ${origin} has signed${carried}`,
  }
}

type VerifyFinding = { readonly valid: boolean; readonly words: string } & Readonly<Record<string, unknown>>

function receiptFinding(verdict: Awaited<ReturnType<typeof verifyReceipt>>): VerifyFinding {
  if (!verdict.valid) return { ...verdict, words: `not valid: ${verdict.message}` }
  const { receipt } = verdict
  return { valid: true, receipt: shown(receipt), words: `valid: ${sentence(receipt)}` }
}

async function inclusionFinding(
  question: { readonly receipt: unknown; readonly keys: unknown },
  proofPath: string,
  expectedOrigin: string | undefined,
): Promise<VerifyFinding> {
  const proof = await readJsonFile('--proof', proofPath)
  const pinned = expectedOrigin === undefined ? {} : { expectedOrigin }
  const verdict = await verifyInclusion({ ...question, proof, ...pinned })
  if (!verdict.valid) return { ...verdict, words: `not valid: ${verdict.message}` }
  const { receipt, checkpoint } = verdict
  const { origin, size, root } = checkpoint
  return {
    valid: true,
    receipt: shown(receipt),
    checkpoint: { origin, size, root: encodeBase64(root) },
    words: `valid: ${sentence(receipt)}; event ${receipt.ledger.position} of the ${size} that ${origin} has signed`,
  }
}

function shown({ id, wallet, endpoint, signature, ledger }: VerifiedReceipt) {
  return { id, wallet, endpoint, signature, ledger }
}

function sentence({ endpoint, requiredTokens, wallet }: VerifiedReceipt): string {
  return `${requiredTokens} tokens of ${wallet} for ${endpoint}`
}

async function readKeys(deps: CommandDeps, { key }: VerifyOptions): Promise<unknown> {
  if (key !== undefined) return readJsonFile('--key', key)
  const local = await readLocal(deps)
  if (local?.receiptKey !== undefined) return local.receiptKey
  throw new UsageProblem('--key', 'is missing: the public key of the service, from its /.well-known/jwks.json')
}

const answerBody = z.object({ receipt: z.unknown() })

/** Returns the receipt. The file may contain the whole answer of the service. */
function receiptOf(json: unknown): unknown {
  return answerBody.safeParse(json).data?.receipt ?? json
}

const anyClosing = z.object({ statement: z.unknown(), jws: z.string() }).loose()

/** Returns the closing statement, which may be inside an answer of the service. Undefined for any other JSON. */
function closingOf(json: unknown): unknown {
  const data = z.object({ data: anyClosing }).safeParse(json).data?.data
  return data ?? anyClosing.safeParse(json).data
}
