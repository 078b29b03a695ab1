import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { Writable } from 'node:stream'
import { findCommandLine } from '@tollbook/sandbox/postgres/processTable'
import { assertPresent } from '@tollbook/core/assert'
import { afterFile } from '../../support/afterFile.ts'
import { awaitThat } from '../../support/awaitThat.ts'

/** A process that has ended but whose parent, a shell that has become `sleep`, never asks how. */
export async function makeZombie(): Promise<number> {
  const script = 'cat <&3 & echo $!; exec sleep 60'
  const parent = spawn('/bin/sh', ['-c', script], { stdio: ['ignore', 'pipe', 'inherit', 'pipe'] })
  afterFile(() => void parent.kill('SIGKILL'))
  const pid = Number(await new Promise((resolve) => parent.stdout?.once('data', resolve)))
  await awaitThat('the shell has become sleep', async () => {
    const commandLine = await findCommandLine(assertPresent(parent.pid, 'the shell runs'))
    return commandLine?.startsWith('sleep') === true
  })
  const [, , , pipe] = parent.stdio
  if (pipe instanceof Writable) pipe.end()
  await awaitThat('its child is a zombie', async () => (await readFile(`/proc/${pid}/stat`, 'utf8')).includes(') Z '))
  return pid
}
