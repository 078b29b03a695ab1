import { join } from 'node:path'
import { CommanderError } from 'commander'
import { expect, test } from 'vitest'
import { localnetCommand } from '@tollbook/localnet/localnetCommand'
import { makeScratchDirectory } from '../../support/scratchDirectory.ts'

async function runChain(...words: readonly string[]): Promise<string> {
  let said = ''
  const command = localnetCommand({ name: 'chain', settings: () => ({ port: 0, stateDirectory: '/nowhere/else' }) })
  command.exitOverride().configureOutput({ writeErr: (text) => void (said += text) })
  const error: unknown = await command.parseAsync(words, { from: 'user' }).catch((thrown: unknown) => thrown)
  return error instanceof CommanderError ? said : String(error)
}

test.each([
  ['--port', '65535', 'must be a whole number from 0 to 65534'],
  ['--port', 'abc', 'must be a whole number from 0 to 65534'],
  ['--slot-ms', 'fast', 'must be a whole number from 0 to 999999'],
])('%s %s is refused before the chain starts', async (option, value, expected) => {
  expect(await runChain(option, value)).toContain(expected)
})

test('a folder for the state in a folder that does not exist is refused, and not created', async () => {
  const missing = join(await makeScratchDirectory(), 'missing')
  expect(await runChain('--state', join(missing, 'chain'))).toMatch(
    /missing\/chain for the state.*in a folder that exists/,
  )
})

// Node's recursive mkdir never ends for a path below /proc.
test.runIf(process.platform === 'linux')(
  'a folder for the state that the system refuses ends the command',
  async () => {
    expect(await runChain('--state', '/proc/chain')).toContain('the folder /proc/chain for the state of the chain')
  },
)
