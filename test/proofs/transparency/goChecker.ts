import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describeError, Fault } from '@tollbook/core/fault'

/** The program next to this file, which is built on golang.org/x/mod/sumdb. */
export interface GoChecker {
  /** Its lines as they come. Throws at the end, with what it complained of, when it gave up before it was done. */
  run(...words: readonly string[]): AsyncGenerator<string>
}

const run = promisify(execFile)
const folder = fileURLToPath(new URL('.', import.meta.url))
const libraries = ['golang.org/x/mod/sumdb/tlog', 'golang.org/x/mod/sumdb/note']
// Directory of Go's library sources in Debian's packages.
const debianSources = '/usr/share/gocode'

/** The program, built in a folder that is gone afterwards; or why it cannot be, in words for who could install it. */
export async function buildGoChecker(scratch: string): Promise<GoChecker | { readonly missing: string }> {
  const sources = [process.env['GOPATH'], debianSources].filter((path) => path !== undefined && path !== '')
  // Offline: no module is ever fetched, and what is not in one of these folders is not there.
  const env = { ...process.env, GO111MODULE: 'off', GOFLAGS: '', GOPATH: sources.join(':'), GOCACHE: `${scratch}/go` }
  const go = (...words: string[]) => run('go', words, { cwd: folder, env })
  try {
    await go('list', ...libraries)
  } catch (error) {
    const lacks = /ENOENT/.test(describeError(error)) ? 'there is no go' : `go does not find ${libraries.join(' and ')}`
    return { missing: `${lacks} (Debian: apt-get install golang-go golang-golang-x-mod-dev)` }
  }
  const program = `${scratch}/transparency`
  await go('build', '-o', program, '.')
  return { run: (...words) => linesOf(program, words) }
}

async function* linesOf(program: string, words: readonly string[]): AsyncGenerator<string> {
  const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'pipe'] })
  const gone = once(child, 'exit')
  const complaint = text(child.stderr)
  try {
    for await (const line of createInterface({ input: child.stdout })) yield line
    const [code] = await gone
    if (code !== 0)
      throw new Fault(`the Go program ended with ${code}: ${(await complaint).trim()}`, { retryable: false })
  } finally {
    child.kill()
  }
}
