import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CommanderError, type Command } from 'commander'
import type { CommandDeps } from '../../../src/cli/commandDeps.ts'
import { prepareCommand } from '../../../src/cli/prepareCommand.ts'
import { makeScratchDirectory } from '../../support/scratchDirectory.ts'
import { createVirtualClock, type VirtualClock } from '../../client/support/virtualClock.ts'

/** A shell without a shell: the output, the exit code, and a separate home folder. */
export interface Terminal {
  readonly home: string
  readonly clock: VirtualClock
  readonly interrupt: AbortController
  writeFile(name: string, content: unknown): Promise<string>
  files(folder: string): Promise<readonly string[]>
  run(make: (deps: CommandDeps) => Command, ...words: string[]): Promise<Run>
}

export interface Run {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

export async function openTerminal({ isTTY = false } = {}): Promise<Terminal> {
  const home = await makeScratchDirectory()
  const [clock, interrupt] = [createVirtualClock(), new AbortController()]
  return {
    home,
    clock,
    interrupt,
    async writeFile(name, content) {
      const path = join(home, name)
      await mkdir(join(path, '..'), { recursive: true })
      await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content))
      return path
    },
    files: (folder) => readdir(join(home, folder)).catch(() => []),
    async run(make, ...words) {
      const [out, err]: string[][] = [[], []]
      let exitCode = 0
      const deps: CommandDeps = {
        stdout: { write: (text) => out?.push(text), isTTY },
        stderr: { write: (text) => err?.push(text), isTTY },
        home: () => home,
        setExitCode: (code) => {
          exitCode = code
        },
        interrupted: interrupt.signal,
        clock,
      }
      try {
        await prepareCommand(make(deps), deps).parseAsync(words, { from: 'user' })
      } catch (error) {
        if (!(error instanceof CommanderError)) throw error
        exitCode = error.exitCode
      }
      return { exitCode, stdout: (out ?? []).join(''), stderr: (err ?? []).join('') }
    },
  }
}
