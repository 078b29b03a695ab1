import { expect, test } from 'vitest'
import type { CommandDeps } from '../../src/cli/commandDeps.ts'
import { loadCommands } from '../../src/cli/loadCommands.ts'

const deps: CommandDeps = {
  stdout: { write: () => true },
  stderr: { write: () => true },
  home: () => '/nowhere',
  setExitCode: () => undefined,
  interrupted: new AbortController().signal,
}

test('each command is loaded alone by its own name, and all of them by any other', async () => {
  const all = (await loadCommands(undefined, deps)).map((command) => command.name())
  expect(new Set(all).size).toBe(all.length)
  for (const name of all) expect((await loadCommands(name, deps)).map((command) => command.name())).toEqual([name])
  for (const name of ['--help', 'help', 'exprot', 'constructor', ''])
    expect(await loadCommands(name, deps), name).toHaveLength(all.length)
})
