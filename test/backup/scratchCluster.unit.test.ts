import { spawnSync } from 'node:child_process'
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { systemClock } from '@tollbook/core/clock'
import { startScratchCluster } from '../../src/backup/scratchCluster.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'

const folder = await makeScratchDirectory()
const scratchFolder = join(folder, 'scratch')
const programs = join(folder, 'bin')
await Promise.all([mkdir(scratchFolder), mkdir(programs)])

async function install(name: string, script: string): Promise<void> {
  await writeFile(join(programs, name), `#!/bin/sh\n${script}\n`)
  await chmod(join(programs, name), 0o755)
}

/** Programs in place of pgBackRest and Postgres. The server stores its arguments in the file `called`. */
async function restore(postgres: string, receivedWal?: string) {
  await install(
    'pgbackrest',
    'for word; do case $word in --pg1-path=*) mkdir "${word#*=}"; echo 17 >"${word#*=}/PG_VERSION";; esac; done',
  )
  await install('postgres', `printf '%s\\n' "$@" >'${folder}/called'; ${postgres}`)
  vi.stubEnv('PATH', `${programs}:/usr/bin:/bin`)
  onTestFinished(() => void vi.unstubAllEnvs())
  const interrupt = new AbortController()
  const cluster = startScratchCluster({
    repository: { stanza: 'store', interrupted: interrupt.signal },
    programs,
    scratchFolder,
    superuser: 'postgres',
    targetMs: undefined,
    receivedWal,
    clock: systemClock,
  })
  return { interrupt, cluster }
}

test('a cluster that does not start says why in the words of Postgres, and leaves no copy behind', async () => {
  const { cluster } = await restore('echo "FATAL: could not locate required checkpoint record" >&2; exit 1')
  await expect(cluster).rejects.toThrow(
    'the restored cluster does not start: FATAL: could not locate required checkpoint record',
  )
  expect(await readdir(scratchFolder)).toEqual([])
})

test('a cluster archives nothing, is reached by no network, and replays the archive before the received log', async () => {
  const { cluster } = await restore('exit 1', '/var/lib/received')
  await expect(cluster).rejects.toThrow('does not start')
  const called = await readFile(join(folder, 'called'), 'utf8')
  for (const setting of ['archive_mode=off', 'listen_addresses=', 'primary_conninfo=', 'hot_standby=off'])
    expect(called).toContain(`\n${setting}\n`)
  expect(called).toMatch(
    /\nrestore_command=pgbackrest --stanza='store' --pg1-path='\S+\/data' --log-level-file=off archive-get %f "%p" \|\| cp '\/var\/lib\/received'\/%f "%p" \|\| cp '\/var\/lib\/received'\/%f\.partial "%p"\n/,
  )
})

test('a received segment is copied out of a folder whose name Postgres or the shell could read as more', async () => {
  const received = join(folder, `100%full it's "$(exit 9)"`)
  await mkdir(received)
  await writeFile(join(received, '0001.partial'), 'log')
  await expect((await restore('exit 1', received)).cluster).rejects.toThrow('does not start')
  const [, command = ''] = /\nrestore_command=(.*)\n/.exec(await readFile(join(folder, 'called'), 'utf8')) ?? []
  const place = join(folder, 'segment')
  const values: Readonly<Record<string, string>> = { '%f': '0001', '%p': place, '%%': '%' }
  const run = command.replaceAll(/%[fp%]/g, (sign) => values[sign] ?? '')
  spawnSync('sh', ['-c', run], { env: { PATH: '/usr/bin:/bin' } })
  expect(await readFile(place, 'utf8')).toBe('log')
})

// As Postgres does, it handles SIGINT although its shell ignores the signal for a command in the background.
const server = `
const { appendFileSync } = require('node:fs')
const say = (word) => appendFileSync('${folder}/called', word + '\\n')
process.on('SIGINT', () => { say('shutdown'); process.exit(0) })
setInterval(() => undefined, 1_000)
say('started')`

test('an interrupted drill ends its server by a fast shutdown, and then removes the copy', async () => {
  const program = join(folder, 'server.cjs')
  await writeFile(program, server)
  const { interrupt, cluster } = await restore(`exec '${process.execPath}' '${program}'`)
  const ended = expect(cluster).rejects.toThrow()
  const called = () => readFile(join(folder, 'called'), 'utf8').catch(() => '')
  await awaitThat('the server has started', async () => (await called()).endsWith('started\n'))
  interrupt.abort()
  await ended
  expect(await called()).toMatch(/\nstarted\nshutdown\n$/)
  expect(await readdir(scratchFolder)).toEqual([])
})

test('a place that cannot hold a cluster is refused with its option', async () => {
  const start = (place: string) =>
    startScratchCluster({
      repository: { stanza: 'store', interrupted: new AbortController().signal },
      programs,
      scratchFolder: place,
      superuser: 'postgres',
      targetMs: undefined,
      receivedWal: undefined,
      clock: systemClock,
    })
  await expect(start(join(folder, 'missing'))).rejects.toThrow(
    `--scratch: no folder can be created in ${join(folder, 'missing')}`,
  )
  const long = join(folder, 'x'.repeat(90))
  await mkdir(long)
  await expect(start(long)).rejects.toThrow('is too long for a socket: name a shorter one with --scratch')
  expect(await readdir(long)).toEqual([])
})
