import { execFile, execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'

const config = new URL('../../src/config.ts', import.meta.url).href

/* Lookups of names use Node's thread pool, whose four threads hang for 10 s each while a name server is silent. */
test('the service has a thread for its database while the lookups of providers hang', async () => {
  const directory = await makeScratchDirectory()
  const pipes = Array.from({ length: 24 }, (_, n) => join(directory, `pipe-${n}`))
  execFileSync('/usr/bin/env', ['mkfifo', ...pipes])
  const script = `
    const { useServiceThreads } = await import(${JSON.stringify(config)})
    useServiceThreads()
    const { open, stat } = await import('node:fs/promises')
    // Without a writer each of them holds a thread.
    for (const pipe of ${JSON.stringify(pipes)}) void open(pipe)
    await stat('/')
    process.stdout.write('answered')
    process.kill(process.pid, 'SIGKILL')`
  const ended = promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], {
    // The size of this process, which tests of commands set, is that of an operator.
    env: { ...process.env, UV_THREADPOOL_SIZE: undefined },
    timeout: 120_000,
  })
  await expect(ended).rejects.toMatchObject({ stdout: 'answered', signal: 'SIGKILL' })
})
