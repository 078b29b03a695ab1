import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'
import { openTestRenderer } from './testRenderer.ts'

/*
 * Docker mounts `tmpfs: [/tmp]` without the right to execute, and so do hardened hosts. A private mount namespace gives
 * one process such a folder; other processes do not see it. It is a folder of the test, because a mount over /tmp would
 * hide a repository below it.
 */

const folder = await makeScratchDirectory()

const unshare = process.getuid?.() === 0 ? ['--mount'] : ['--mount', '--map-root-user']
const mount = `mount -t tmpfs -o noexec,nosuid,nodev tmpfs '${folder}'`
const mayMount = spawnSync('unshare', [...unshare, '--', 'sh', '-c', mount]).status === 0
if (!mayMount)
  process.stderr.write(
    'a temporary folder without execution is not tested: this user may not mount in a namespace of its own\n',
  )
// The same machine must be able to render with an ordinary /tmp, or the test would show nothing.
const canRender = mayMount && (await openTestRenderer()) !== undefined

function renderOnce(env: Readonly<Record<string, string>> = {}) {
  const entry = fileURLToPath(new URL('renderOnce.ts', import.meta.url))
  const script = `${mount} && exec "$0" "$@"`
  const words = [...unshare, '--', 'sh', '-c', script, process.execPath, entry]
  const { status, stdout, stderr } = spawnSync('unshare', words, {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], TMPDIR: folder, ...env },
    timeout: 280_000,
  })
  return { status, stdout, stderr }
}

test.skipIf(!canRender)('fault 19: a page is rendered where nothing in the temporary folder may be executed', () => {
  const { status, stdout, stderr } = renderOnce()
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(JSON.parse(stdout)).toEqual({ why: null, bytes: expect.any(Number) })
  expect(JSON.parse(stdout)).not.toMatchObject({ bytes: 0 })
})
