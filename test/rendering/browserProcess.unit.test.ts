import { writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { startBrowserProcess } from '../../src/rendering/browserProcess.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'

const directory = await makeScratchDirectory()
const start = (program: string, ...words: readonly string[]) =>
  startBrowserProcess({ program, arguments: words, environment: {}, signal: new AbortController().signal })

// An `error` event that nothing listens to would also fail the whole test file.
test('fault 19: a start script that is not executable is a rejection, not the end of the service', async () => {
  const script = `${directory}/chromium.sh`
  await writeFile(script, '#!/bin/sh\n', { mode: 0o644 })
  await expect(start(script)).rejects.toMatchObject({ retryable: true, cause: { code: 'EACCES' } })
})

test('a program that does not exist is a rejection', async () => {
  await expect(start(`${directory}/nowhere`)).rejects.toMatchObject({ cause: { code: 'ENOENT' } })
})

test('the end of a process has its status and its last words', async () => {
  const { ended } = await start('/bin/sh', '-c', 'echo "no such library" >&2; exit 127')
  expect(await ended).toBe('the browser ended with 127: no such library')
})

test('an aborted signal ends the process with all processes of its group', async () => {
  const closing = new AbortController()
  const { ended, answers } = await startBrowserProcess({
    program: '/bin/sh',
    arguments: ['-c', 'cat <&3 >&4'],
    environment: {},
    signal: closing.signal,
  })
  closing.abort()
  expect(await ended).toBe('the browser ended with SIGKILL')
  // Every process that held the pipe has gone.
  expect(await answers.toArray()).toEqual([])
})
