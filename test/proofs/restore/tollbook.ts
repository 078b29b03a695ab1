import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const entry = fileURLToPath(new URL('../../../src/cli/tollbook.js', import.meta.url))

export interface Ran {
  readonly exitCode: number | null
  readonly output: string
}

/** Runs a command as an operator calls it, as another user if one is given. */
export async function runTollbook(
  words: readonly string[],
  env: Readonly<Record<string, string>>,
  account?: { readonly uid: number; readonly gid: number },
): Promise<Ran> {
  const child = spawn(process.execPath, [entry, ...words], {
    ...account,
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => void (output += chunk.toString()))
  await once(child, 'close')
  return { exitCode: child.exitCode, output }
}
