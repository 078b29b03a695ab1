import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { open } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { assertPresent } from '@tollbook/core/assert'

const program = fileURLToPath(new URL('../../src/cli/tollbook.js', import.meta.url))

test('a reader that closes the pipe, such as head, ends a command without an error', async () => {
  const child = spawn(process.execPath, [program, 'doctor'], {
    env: { TOLLBOOK_HOME: '/nowhere' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  child.stdout.destroy()
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')])
  expect([code, stderr]).toEqual([0, ''])
})

test.each(['client/src/command/main.ts', 'audit/src/main.ts', 'agent/src/main.ts'])(
  'a closed pipe ends packages/%s without a stack',
  async (path) => {
    const packaged = fileURLToPath(new URL(`../../packages/${path}`, import.meta.url))
    const child = spawn(process.execPath, [packaged, '--help'], { stdio: ['ignore', 'pipe', 'pipe'] })
    child.stdout.destroy()
    const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')])
    expect([code, stderr]).toEqual([0, ''])
  },
)

test('a full disk under standard output ends a command with a message', async () => {
  await using full = await open('/dev/full', 'w')
  const child = spawn(process.execPath, [program, 'doctor'], {
    env: { TOLLBOOK_HOME: '/nowhere' },
    stdio: ['ignore', full.fd, 'pipe'],
  })
  const [stderr, [code]] = await Promise.all([
    text(assertPresent(child.stderr, 'stderr is a pipe')),
    once(child, 'exit'),
  ])
  expect([code, stderr]).toEqual([1, 'standard output cannot be written: ENOSPC: no space left on device, write\n'])
})
