import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runAgentCommand } from '@tollbook/agent/agentCommand'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'

async function run(...argv: readonly string[]) {
  const printed = { stdout: '', stderr: '' }
  const code = await runAgentCommand(argv, {
    stdout: { write: (text) => void (printed.stdout += text) },
    stderr: { write: (text) => void (printed.stderr += text) },
    stopped: AbortSignal.abort(),
  })
  return { code, ...printed }
}

test('the help lists the commands', async () => {
  expect(await run('mcp', '--help')).toMatchObject({ code: 0, stdout: expect.stringContaining('wallet serve') })
})

test.each([
  ['no command', []],
  ['an unknown command', ['spend']],
  ['a member of all objects', ['constructor']],
  ['an unknown option', ['mcp', '--limit', '5']],
  ['a port that is not a number', ['proxy', '--port', 'x']],
  ['a port that is too high', ['proxy', '--port', '65536']],
  ['a purchase without a URL', ['pay', 'GET']],
])('%s is wrong usage', async (_name, argv) => {
  expect(await run(...argv)).toMatchObject({ code: 2, stdout: '' })
})

test('each front end says that the policy is missing, and starts nothing', async () => {
  const folder = join(await makeScratchDirectory(), 'wallet')
  for (const words of [['mcp'], ['proxy'], ['wallet', 'serve'], ['pay', 'GET', 'https://api.example.com/']])
    expect(await run(...words, '--folder', folder)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('mcp init'),
    })
  expect(await run('mcp', 'init', '--folder', folder)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--service'),
  })
})
