#!/usr/bin/env node
import { join } from 'node:path'
import { runPayCommand } from './payCommand.ts'

/* Entry point of `tollbook-pay`: the command that pays, without the rest of the service. */

const interrupted = new AbortController()
process.once('SIGINT', () => interrupted.abort())
// Ignore a closed pipe. The write of an answer reports it.
process.stdout.on('error', () => undefined)

process.exitCode = await runPayCommand(process.argv.slice(2), {
  name: 'tollbook-pay',
  stdout: process.stdout,
  stderr: process.stderr,
  paymentFolder: join(process.env['TOLLBOOK_HOME'] || '.tollbook', 'payments'),
  readLocal: () => Promise.resolve(undefined),
  interrupted: interrupted.signal,
})
