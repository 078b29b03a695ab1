#!/usr/bin/env node
import { runAgentCommand } from './agentCommand.ts'

const stopped = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopped.abort())
// Ignore a closed pipe. The write of a paid answer reports it.
process.stdout.on('error', () => undefined)

process.exitCode = await runAgentCommand(process.argv.slice(2), {
  stdout: process.stdout,
  stderr: process.stderr,
  stopped: stopped.signal,
})
// Exit explicitly: a paid call that is still running would keep the process alive. Everything has been closed.
process.exit()
