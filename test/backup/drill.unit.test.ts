import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { systemClock } from '@tollbook/core/clock'
import { drill } from '../../src/backup/drill.ts'
import { silentLog } from '../../src/machine/log.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'

test('the checkpoints are read before the repository, so that the replay includes every event of them', async () => {
  const folder = await makeScratchDirectory()
  await writeFile(join(folder, 'pgbackrest'), '#!/bin/sh\nexit 55\n')
  await chmod(join(folder, 'pgbackrest'), 0o755)
  vi.stubEnv('PATH', `${folder}:/usr/bin:/bin`)
  vi.spyOn(process, 'getuid').mockReturnValue(1_000)
  const steps: string[] = []
  const unused = () => Promise.reject(new Error('nothing was restored'))
  const options = {
    repository: { stanza: 'store', interrupted: new AbortController().signal },
    programs: undefined,
    scratchFolder: folder,
    superuser: 'postgres',
    targetMs: undefined,
    receivedWal: undefined,
    clock: systemClock,
    database: 'tollbook',
    checkpointFiles: [join(folder, 'missing')],
  }
  const deps = { log: silentLog, onStep: (text: string) => void steps.push(text), examine: unused, audit: unused }
  await expect(drill(options, deps)).rejects.toThrow('pgbackrest verify failed')
  expect(steps).toEqual([`${join(folder, 'missing')} does not exist yet`])
})
