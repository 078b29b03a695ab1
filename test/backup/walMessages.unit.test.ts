import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { backupCommand } from '../../src/cli/backup.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'

afterEach(() => vi.unstubAllEnvs())

const complaint = 'pg_receivewal: error: could not write: No space left on device'
// Like the real one, it reports a failure, tries again by itself, and ends on SIGINT.
const receiver = `#!/bin/sh
case "$*" in
  *--version*) echo 'pg_receivewal (PostgreSQL) 17.4'; exit 0 ;;
  *--create-slot*) exit 0 ;;
esac
trap 'exit 0' INT
echo '${complaint}' >&2
while :; do sleep 0.1; done
`

test('the receiver of the log passes on what fails, also under systemd, where stderr is not a terminal', async () => {
  const folder = await makeScratchDirectory()
  const program = join(folder, 'pg_receivewal')
  await writeFile(program, receiver)
  await chmod(program, 0o755)
  vi.stubEnv('BACKUP_DATABASE_URL', 'postgres://backup@127.0.0.1:1/postgres')
  vi.stubEnv('BACKUP_DIR', join(folder, 'backups'))
  vi.stubEnv('BACKUP_TOOLS_DIR', folder)
  const written: string[] = []
  const stopping = new AbortController()
  const command = backupCommand({
    stdout: { write: () => undefined },
    stderr: {
      write(text) {
        written.push(text)
        if (text.includes(complaint)) stopping.abort()
      },
    },
    home: () => folder,
    setExitCode: () => undefined,
    interrupted: stopping.signal,
  })
  await command.parseAsync(['wal'], { from: 'user' })
  expect(written.join('')).toContain(complaint)
})
