#!/usr/bin/env -S node --disable-warning=ExperimentalWarning
import { availableParallelism } from 'node:os'
import { runAuditCommand } from './auditCommand.ts'
import { auditExitCodes } from './auditReport.ts'
import { UsageError } from './commandArguments.ts'

/* Entry point of `tollbook-audit`, for an auditor who has only this package. */

// Use one thread per core to verify signatures. More threads would compete with the reader.
process.env['UV_THREADPOOL_SIZE'] ??= String(availableParallelism())

const interrupted = new AbortController()
process.once('SIGINT', () => interrupted.abort())
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A reader such as `head` closes the pipe when it has read enough lines.
  if (error.code === 'EPIPE') return
  process.stderr.write(`standard output cannot be written: ${error.message}\n`)
  process.exitCode = auditExitCodes.failed
})

process.exitCode = await runAuditCommand(process.argv.slice(2), {
  stdout: process.stdout,
  stderr: process.stderr,
  interrupted: interrupted.signal,
  findLedger: (database) => {
    const databaseUrl = database ?? process.env['DATABASE_URL'] ?? ''
    if (databaseUrl !== '') return Promise.resolve({ databaseUrl })
    throw new UsageError('--database: is missing; give the postgres:// URL of a role that may read the ledger')
  },
})
