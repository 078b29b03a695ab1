import { execFile, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

// The proofs themselves take minutes (docs/testing.md); these are the same programs with small numbers.

async function lastWords(program: string, words: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [
    fileURLToPath(new URL(program, import.meta.url)),
    ...words,
  ])
  return stdout
}

test('a proof that the machine has no tools for says so in one line, names them, and does not claim to hold', async () => {
  const program = fileURLToPath(new URL('transparency.ts', import.meta.url))
  const { status, stdout, stderr } = spawnSync(process.execPath, [program], {
    env: { PATH: '/nowhere' },
    encoding: 'utf8',
  })
  expect([status, stderr]).toEqual([2, ''])
  expect(stdout).toMatch(/^ +\d+ s {2}VERDICT: not run: .*apt-get install golang-go golang-golang-x-mod-dev\)\n$/)
})

test('each seed of the simulation keeps every invariant', async () => {
  expect(await lastWords('simulation.ts', ['--from', '4', '--seeds', '57', '--crowd', '8'])).toContain(
    '57 seeds, 0 failed',
  )
})

test('I4: a server that is killed before the claim or before the answer loses no payment', async () => {
  expect(await lastWords('serverCrash.ts', ['--runs', '1', '--every', '6'])).toContain('VERDICT: holds')
})

test('three windows and a proxy on one agent wallet pay once and stay within the limit, although they are killed', async () => {
  expect(await lastWords('agent.ts', ['--purchases', '12', '--every-ms', '1000'])).toContain('VERDICT: holds')
})

test('front ends and a wallet that are killed deposit once and debit each order once', async () => {
  expect(await lastWords('agentTabs.ts', ['--deposits', '1', '--every-ms', '1000'])).toContain('VERDICT: holds')
})
