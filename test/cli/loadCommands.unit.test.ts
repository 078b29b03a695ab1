import { systemClock } from '@tollbook/core/clock'
import { Command, CommanderError } from 'commander'
import { expect, test, vi } from 'vitest'
import type { CommandDeps } from '../../src/cli/commandDeps.ts'
import { loadCommands, loadInstalled } from '../../src/cli/loadCommands.ts'

const deps: CommandDeps = {
  stdout: { write: () => true },
  stderr: { write: () => true },
  home: () => '/nowhere',
  setExitCode: () => undefined,
  interrupted: new AbortController().signal,
  clock: systemClock,
}

test('each command is loaded alone by its own name, and all of them by any other', async () => {
  const all = (await loadCommands(undefined, deps)).map((command) => command.name())
  expect(new Set(all).size).toBe(all.length)
  for (const name of all) expect((await loadCommands(name, deps)).map((command) => command.name())).toEqual([name])
  for (const name of ['--help', 'help', 'exprot', 'constructor', ''])
    expect(await loadCommands(name, deps), name).toHaveLength(all.length)
})

test('every command ends with 2 for an option that does not exist', async () => {
  vi.spyOn(process, 'exit').mockImplementation((code) => {
    throw new Error(`the process ended with ${code}`)
  })
  const ended: Record<string, unknown> = {}
  const setExitCode = (code: number) => void (ended['code'] = code)
  for (const command of await loadCommands(undefined, { ...deps, setExitCode })) {
    ended['code'] = undefined
    command.configureOutput({ writeErr: () => undefined, writeOut: () => undefined })
    await command.parseAsync(['--no-such-option'], { from: 'user' }).catch((error: unknown) => {
      ended['code'] = error instanceof CommanderError ? error.exitCode : error
    })
    expect(ended['code'], command.name()).toBe(2)
  }
})

test('every command suggests the option that a mistyped one was probably meant to be', async () => {
  const mistyped = {
    serve: '--sample-upstream',
    pay: '--max-ud',
    audit: '--databse',
    export: '--outptu',
    faucet: '--sool',
  }
  for (const [name, option] of Object.entries(mistyped)) {
    const [command] = await loadCommands(name, deps)
    let said = ''
    const writeErr = (text: string) => void (said += text)
    command?.exitOverride().configureOutput({ writeErr, writeOut: () => undefined })
    await expect(command?.parseAsync([option, 'x'], { from: 'user' }), name).rejects.toBeInstanceOf(CommanderError)
    expect(said, name).toContain('Did you mean --')
  }
})

test.each([
  ['faucet', [], 'error: missing: <address>, <tokens>'],
  ['faucet', ['address'], 'error: missing: <tokens>'],
  ['witness', ['--output', 'file'], 'error: missing: --witness-url <url>, --witness-key <key>'],
  ['products', ['import', 'api.json'], 'error: missing: --operation <operation>, --price <usd>'],
  ['refund', ['approve'], 'error: missing: <payment>, --reason <text>, --by <name>'],
  ['refund', ['aprove'], "error: unknown command 'aprove'\n(Did you mean approve?)"],
  ['verify', ['one', 'two'], 'error: too many arguments. Expected 1 argument but got 2: one, two.'],
])('tollbook %s %j names all that is missing or unknown, and its help', async (name, words, expected) => {
  const [command] = await loadCommands(name, deps)
  let said = ''
  const listen = (one: Command | undefined): void => {
    one?.configureOutput({ writeErr: (text) => void (said += text) })
    one?.commands.forEach(listen)
  }
  listen(command)
  await expect(command?.parseAsync(words, { from: 'user' })).rejects.toMatchObject({ exitCode: 2 })
  const below = ['approve', 'import'].includes(words[0] ?? '') ? ` ${words[0]}` : ''
  expect(said).toBe(`${expected}\n${name}${below} --help explains the command.\n`)
})

test('a command whose package is not installed is not listed, and every other fault is thrown', async () => {
  const missing = 'a-package-that-is-not-installed'
  const loadMissing = async (): Promise<Command> => import(missing)
  const loaded = await loadInstalled([loadMissing, async () => new Command('serve')], deps)
  expect(loaded.map((command) => command.name())).toEqual(['serve'])
  const loadBroken = async () => {
    throw new Error('the file is broken')
  }
  await expect(loadInstalled([loadBroken], deps)).rejects.toThrow('the file is broken')
})
