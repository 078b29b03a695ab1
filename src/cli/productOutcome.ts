import { errorText } from '@tollbook/core/fault'
import type { Outcome } from '../product/product.ts'
import type { CommandDeps } from './commandDeps.ts'
import { refusedExitCode } from './runCommand.ts'

/** Prints what a caller would get: the bytes to standard output, and the rest to standard error. Returns the exit code. */
export async function printOutcome({ stdout, stderr }: CommandDeps, outcome: Outcome): Promise<number> {
  if (outcome.kind === 'failed') {
    stderr.write(`not sold: ${outcome.code}: ${outcome.message}\n`)
    return refusedExitCode
  }
  if (outcome.kind === 'delivered') {
    stderr.write('sold: application/json in the envelope, as data\n')
    stdout.write(`${JSON.stringify(outcome.data)}\n`)
    return 0
  }
  const text = new TextDecoder()
  if (outcome.kind === 'raw') {
    const headers = Object.entries(outcome.headers ?? {}).map(([name, value]) => `; ${name}: ${value}`)
    stderr.write(`sold: ${outcome.contentType}, ${outcome.bytes.length} bytes${headers.join('')}\n`)
    stdout.write(`${text.decode(outcome.bytes)}\n`)
    return 0
  }
  stderr.write(`sold: ${outcome.contentType}, as it arrives\n`)
  try {
    for await (const chunk of outcome.chunks) stdout.write(text.decode(chunk, { stream: true }))
    return 0
  } catch (error) {
    stderr.write(`\nnot sold: the stream broke: ${error instanceof Error ? errorText(error) : 'unknown'}\n`)
    return refusedExitCode
  }
}
