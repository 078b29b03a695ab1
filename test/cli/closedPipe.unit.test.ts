import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

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
